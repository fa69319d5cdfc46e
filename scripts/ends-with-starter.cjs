'use strict';
// Loaded by programs that scripts and tests start: a program stops gracefully when its starter ends, even if that was killed. The end of the
// channel or the input between the two shows it, because no other process holds the other end.
const { isMainThread } = require('node:worker_threads');
const end = () => process.kill(process.pid, 'SIGTERM');
if (process.channel) {
  process.once('disconnect', end);
  process.channel.unref();
} else if (isMainThread) {
  process.stdin.once('end', end).once('error', end).resume().unref();
}
