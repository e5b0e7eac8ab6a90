import type { Caller, Role } from './credentials.ts'
import { HttpError } from './http-error.ts'
import { credentialOf, Quota, type Release, type Shortage } from './quota.ts'
import { Rate } from './rate.ts'

/** How much callers may take of a server. */
export interface LimitOptions {
  /** Event streams open at a time, those of MCP included. Default 2,000. */
  readonly maxStreams?: number
  /** Tool calls that wait for a person at a time; further ones are answered at once. Default 2,000. */
  readonly maxWaitingCalls?: number
  /** Bytes of request bodies that are being received or worked on. Default 64 MiB. */
  readonly maxBytesInFlight?: number
  /** Writes that one agent may make per minute. Default 600. */
  readonly agentWritesPerMinute?: number
  /** Reads that one agent may make per minute. Default 6,000. */
  readonly agentReadsPerMinute?: number
}

/** What is limited, as metrics name it. */
export type Limited = 'streams' | 'waiting_calls' | 'bytes' | 'writes' | 'reads'

/**
 * Keeps one caller from using up the server: agents cannot starve people, and a runaway agent fills neither the disk nor
 * a person's day.
 */
export class Limits {
  readonly #streams: Quota
  readonly #waiting: Quota
  readonly #bytes: Quota
  readonly #writes: Rate
  readonly #reads: Rate
  readonly #onRefused: (what: Limited, role: Role) => void

  constructor(options: LimitOptions = {}, onRefused: (what: Limited, role: Role) => void = () => {}) {
    this.#streams = new Quota(options.maxStreams ?? 2_000)
    this.#waiting = new Quota(options.maxWaitingCalls ?? 2_000)
    this.#bytes = new Quota(options.maxBytesInFlight ?? 64 * 1024 * 1024)
    this.#writes = new Rate(options.agentWritesPerMinute ?? 600)
    this.#reads = new Rate(options.agentReadsPerMinute ?? 6_000)
    this.#onRefused = onRefused
  }

  /** Counts a request. Throws 429 if an agent has used up this minute; people are not limited. */
  request(caller: Caller, kind: 'writes' | 'reads'): void {
    if (caller.role === 'person') return
    const rate = kind === 'writes' ? this.#writes : this.#reads
    const waitMs = rate.count(credentialOf(caller))
    if (waitMs === undefined) return
    const message = `Too many ${kind}. An agent may make ${shown(rate.perMinute)} a minute`
    throw this.#refused(kind, caller, 429, 'rate_limited', message, Math.ceil(waitMs / 1_000))
  }

  /** Takes an event stream. Throws 429 or 503 if there is none left for this caller. */
  stream(caller: Caller): Release {
    const shortage = this.#streams.shortage(caller)
    if (!shortage) return this.#streams.take(caller)
    const message = `${taken(shortage, 'event streams', this.#streams.total)} Close one, or try again in a moment.`
    throw this.#refused('streams', caller, statusOf(shortage), 'too_many_streams', message, RETRY_STREAM_S)
  }

  /** Takes a place to wait for a person in; undefined if there is none left for this caller. */
  wait(caller: Caller): Release | undefined {
    if (!this.#waiting.shortage(caller)) return this.#waiting.take(caller)
    this.#onRefused('waiting_calls', caller.role)
    return undefined
  }

  /** Takes room for a body. Throws 429 or 503 if there is none left for this caller. */
  body(caller: Caller, bytes: number): Release {
    const shortage = this.#bytes.shortage(caller, bytes)
    if (!shortage) return this.#bytes.take(caller, bytes)
    const message = `${taken(shortage, 'bytes for requests in progress', this.#bytes.total)} Send fewer at once, or try again in a moment.`
    throw this.#refused('bytes', caller, statusOf(shortage), 'too_many_bytes', message, RETRY_BODY_S)
  }

  #refused(what: Limited, { role }: Caller, status: number, code: string, message: string, afterS: number): HttpError {
    this.#onRefused(what, role)
    return new HttpError(status, code, message, { headers: { 'retry-after': String(afterS) } })
  }
}

/** Streams last; bodies are received within moments. */
const RETRY_STREAM_S = 5
const RETRY_BODY_S = 1

/** 429 says that the callers can mend it themselves. */
const statusOf = ({ of }: Shortage): number => (of === 'server' ? 503 : 429)

function taken({ of, limit }: Shortage, what: string, total: number): string {
  if (of === 'server') return `All ${shown(total)} ${what} of this server are taken.`
  const who = of === 'agents' ? 'Agents' : 'One caller'
  return `${who} may take ${shown(limit)} of the ${shown(total)} ${what} of this server, and all are taken.`
}

const shown = (count: number): string => count.toLocaleString('en')
