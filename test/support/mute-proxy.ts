import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { atTestEnd } from './test-end.ts'

/** Which way packets are lost: `out` to the database, `back` from it. */
export type Way = 'out' | 'back' | 'both'

export interface Muting {
  readonly way?: Way
  /** Connections that are open, those that are opened from now on, or all. */
  readonly which?: 'open' | 'new' | 'all'
  /** Only connections with this `application_name`. */
  readonly name?: string
}

/** A proxy in front of PostgreSQL that can lose packets: nothing arrives any more, and neither side hears of it. */
export interface MuteProxy {
  readonly url: string
  /** Loses packets from now on, FIN and RST included. What was muted stays so, whatever happens later. */
  mute(muting?: Muting): void
  /** New connections work again. */
  heal(): void
  /** Resolves when the next packet is lost. */
  lost(): Promise<void>
  /** The settings that each connection started with. */
  readonly startups: readonly Readonly<Record<string, string>>[]
}

export interface MuteProxyOptions {
  /** Tells clients another process number than the server's own, as PgBouncer does. */
  readonly isPooler?: boolean
}

export async function muteProxy(url: string, { isPooler = false }: MuteProxyOptions = {}): Promise<MuteProxy> {
  const { hostname, port } = new URL(url)
  const lines = new Set<Line>()
  let rules: Muting[] = []
  let loss = Promise.withResolvers<void>()
  const startups: Record<string, string>[] = []
  const onLost = (): void => {
    loss.resolve()
    loss = Promise.withResolvers<void>()
  }
  const proxy = createServer({ allowHalfOpen: true }, near => {
    const far = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    const line = new Line(near, far, onLost)
    lines.add(line)
    // Its name, by which it may have to be muted, is in its first packet.
    near.prependOnceListener('data', chunk => {
      const startup = startupIn(chunk)
      startups.push(startup)
      line.name = startup['application_name']
      for (const rule of rules) line.mute(rule)
    })
    if (isPooler) far.prependOnceListener('data', renumber)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  atTestEnd(() => {
    for (const line of lines) line.destroy()
    proxy.close()
  })
  const own = Object.assign(new URL(url), { port: (proxy.address() as AddressInfo).port })
  return {
    url: own.href,
    mute: (muting = {}) => {
      const { which = 'all' } = muting
      if (which !== 'new') for (const line of lines) line.mute(muting)
      if (which !== 'open') rules.push(muting)
    },
    heal: () => {
      rules = []
    },
    lost: () => loss.promise,
    startups,
  }
}

/** The settings in a startup message: after its length and version, keys and values, each ended by a zero. */
function startupIn(message: Buffer): Record<string, string> {
  const texts = message.toString('utf8', 8).split('\0')
  return Object.fromEntries(
    texts.flatMap((text, index) => (index % 2 === 0 && text !== '' ? [[text, texts[index + 1] ?? '']] : [])),
  )
}

/** Changes the process number in the message that tells it: `K`, its length of 12, the number, a key. */
function renumber(answer: Buffer): void {
  const at = answer.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
  if (at < 0) throw new Error('the first answer has no process number')
  answer.writeInt32BE(answer.readInt32BE(at + 5) + 1_000_000, at + 5)
}

/** One connection through the proxy. */
class Line {
  name: string | undefined
  readonly #near: Socket
  readonly #far: Socket
  readonly #muted = { out: false, back: false }

  constructor(near: Socket, far: Socket, onLost: () => void) {
    this.#near = near
    this.#far = far
    this.#pass('out', near, far, onLost)
    this.#pass('back', far, near, onLost)
  }

  mute({ way = 'both', name }: Muting): void {
    if (name !== undefined && name !== this.name) return
    if (way !== 'back') this.#muted.out = true
    if (way !== 'out') this.#muted.back = true
  }

  destroy(): void {
    this.#near.destroy()
    this.#far.destroy()
  }

  #pass(way: 'out' | 'back', from: Socket, to: Socket, onLost: () => void): void {
    const unlessMute = (pass: () => void) => (): void => {
      if (this.#muted[way]) onLost()
      else pass()
    }
    from.on('data', chunk => unlessMute(() => to.write(chunk))())
    from.on(
      'end',
      unlessMute(() => to.end()),
    )
    from.on(
      'error',
      unlessMute(() => to.destroy()),
    )
    from.on(
      'close',
      unlessMute(() => to.destroy()),
    )
  }
}
