'use strict';
// Loaded by programs that scripts and tests start: a program ends in order when its starter does, however that ends, even killed. It is told by
// the channel or the input between the two, of which nobody else holds the other end.
const { isMainThread } = require('node:worker_threads');
const end = () => process.kill(process.pid, 'SIGTERM');
if (process.channel) {
  process.once('disconnect', end);
  process.channel.unref();
} else if (isMainThread) {
  process.stdin.once('end', end).once('error', end).resume().unref();
}
