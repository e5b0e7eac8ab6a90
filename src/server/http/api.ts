import { type HostPolicy, policyNow } from '../../core/model/policy.ts'
import { type Redactor, redactor } from '../../core/text/redact.ts'
import { type Door, exceptStorage, type LiveEntry, type Ref } from '../../engine/door/door.ts'
import { createApp } from './app.ts'
import { logStorage, type Logger } from './replies.ts'
import type { Guard } from './access.ts'
import { type LimitOptions, Limits } from './limits.ts'
import { type DocumentOptions, withOpenApi } from './openapi.ts'
import type { Page } from './page.ts'
import type { Env, Mcp, Parts, Turns } from './route.ts'
import { ROUTES } from '../routes/index.ts'
import { Streams } from './streams.ts'

export interface ApiOptions extends Partial<Parts>, LimitOptions {
  readonly door: Door
  readonly guard: Guard
  readonly log: Logger
  /** Defaults to a redactor that matches secrets by shape only. */
  readonly redact?: Redactor
  readonly version: string
  readonly basePath?: string
  /** If false, the host application authenticates callers. */
  readonly usesTokens: boolean
  readonly page?: Page
  readonly turns?: Turns
  readonly mcp?: Mcp
  /** Overrides the toolset's defaults in new conversations; a function if it can change. */
  readonly host?: HostPolicy
  readonly reviewWaitMs?: number
  readonly heartbeatMs?: number
}

export interface Api {
  fetch(request: Request, bindings?: Env['Bindings']): Response | Promise<Response>
  showText(ref: Ref, text: LiveEntry): void
  readonly closing: AbortSignal
  /** Ends all streams and answers the calls that wait for a review. */
  close(): void
}

/** Shorter than the timeouts of common clients. */
const REVIEW_WAIT_MS = 25_000

export function createApi(options: ApiOptions): Api {
  const { door, guard, log, login, metrics, settings, tools, page, turns, mcp, host = {}, basePath = '' } = options
  const redact = options.redact ?? redactor()
  const closing = new AbortController()
  const limits = new Limits(options, (what, role) => metrics?.refused(what, role))
  const streams = new Streams({
    door,
    onError: exceptStorage(error => log.warn({ err: error }, 'a stream ended')),
    ...(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs }),
  })
  metrics?.watch(streams)
  door.servesPage()
  const unobserve = door.observeStorage(logStorage(log))
  const document: DocumentOptions = { version: options.version, basePath, usesTokens: options.usesTokens }
  const app = createApp({
    deps: {
      door,
      streams,
      redact,
      // Read per request because both can change at runtime.
      get models() {
        return (turns?.names ?? []).map(name => ({
          name,
          default: name === turns?.defaultName,
          ...(turns?.hasSandbox?.(name) ? { sandbox: true as const } : {}),
        }))
      },
      get host() {
        return policyNow(host)
      },
      reviewWaitMs: options.reviewWaitMs ?? REVIEW_WAIT_MS,
      closing: closing.signal,
      ...(turns ? { turns } : {}),
      ...(login ? { login } : {}),
      ...(metrics ? { metrics } : {}),
      ...(settings ? { settings } : {}),
      ...(tools ? { tools } : {}),
    },
    routes: withOpenApi(
      ROUTES.filter(({ needs }) => needs === undefined || options[needs] !== undefined),
      document,
    ),
    limits,
    guard,
    log,
    redact,
    basePath,
    ...(page ? { page } : {}),
    ...(mcp ? { mcp } : {}),
  })
  return {
    fetch: (request, bindings = {}) => app.fetch(request, bindings),
    showText: (ref, text) => streams.showText(ref, text),
    closing: closing.signal,
    close: () => {
      closing.abort()
      streams.close()
      unobserve()
    },
  }
}
