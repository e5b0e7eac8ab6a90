let context: AudioContext | undefined

/** Frequency in Hz and start in seconds of each note. */
const NOTES = [
  [659.3, 0],
  [880, 0.13],
] as const
const LENGTH_S = 0.45
const VOLUME = 0.12

/** Plays two soft notes. Browsers stay silent until the person has used the page. */
export async function playCall(): Promise<void> {
  context ??= new AudioContext()
  if (context.state !== 'running') await context.resume()
  const now = context.currentTime
  for (const [frequency, start] of NOTES) {
    const note = new OscillatorNode(context, { frequency })
    const volume = new GainNode(context, { gain: 0 })
    volume.gain.setValueAtTime(0, now + start)
    volume.gain.linearRampToValueAtTime(VOLUME, now + start + 0.02)
    volume.gain.exponentialRampToValueAtTime(0.001, now + start + LENGTH_S)
    note.connect(volume).connect(context.destination)
    note.start(now + start)
    note.stop(now + start + LENGTH_S)
  }
}
