const SAMPLES_PER_SECOND = 8000;
/** Of 8-bit sound. */
const SILENCE = 0x80;

/** Silence. A WAV file by its rules; an MP3 file of frames that are all the same. */
export function makeSound(format: 'wav' | 'mp3', seconds: number): Uint8Array {
  return format === 'wav' ? makeWav(seconds * SAMPLES_PER_SECOND) : makeMp3(seconds);
}

function makeWav(samples: number): Uint8Array {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  header.writeUInt32LE(SAMPLES_PER_SECOND, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, SILENCE)]);
}

/** MPEG 1, layer III, 32 kbit/s at 32 kHz, mono, no padding: 144 bytes and 36 ms each. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x18, 0xc0]), Buffer.alloc(140)]);
const FRAMES_PER_SECOND = 28;

function makeMp3(seconds: number): Uint8Array {
  return Buffer.concat(Array.from({ length: 1 + seconds * FRAMES_PER_SECOND }, () => FRAME));
}
