import { AnswerTooLong, UnknownModel } from '../engine/turn/given-models.ts'

/** In bytes. One stream event may hold a whole call; a whole stream has much overhead per word. */
const LIMITS = { whole: 2_000_000, event: 4_000_000, stream: 256_000_000 } as const

/**
 * `fetch` for a provider. Aborts endless responses before they fill the memory, and does not follow redirects, because
 * some providers' keys would go with them.
 */
export const limitedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' })
  const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
  if (location !== null) {
    await response.body?.cancel()
    throw new UnknownModel(
      `The URL of the model redirects to ${placeOf(location, response.url)}. Set that URL instead.`,
    )
  }
  if (!response.body) return response
  const isStream = response.ok && asksForStream(input, init)
  const body = response.body.pipeThrough(isStream ? limitedStream() : limitedBody())
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}

/** Without the query, which may contain a key. */
function placeOf(location: string, base: string): string {
  const { origin, pathname } = URL.parse(location, base) ?? { origin: 'a place', pathname: ' that is no URL' }
  return origin + pathname
}

/** Google's models say it in the URL, others in the body. */
function asksForStream(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): boolean {
  const url = input instanceof Request ? input.url : String(input)
  if (url.includes(':streamGenerateContent')) return true
  return typeof init?.body === 'string' && (JSON.parse(init.body) as { stream?: unknown }).stream === true
}

type Limiter = TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>

export function limitedBody(limit: number = LIMITS.whole): Limiter {
  let total = 0
  return new TransformStream({
    transform: (chunk, controller) => {
      total += chunk.length
      if (total > limit) throw new AnswerTooLong(`over ${megabytes(limit)} at once`)
      controller.enqueue(chunk)
    },
  })
}

/** Passes server-sent events on, up to the limits. An empty line ends an event. */
export function limitedStream({ event, stream }: Record<'event' | 'stream', number> = LIMITS): Limiter {
  let total = 0
  let inEvent = 0
  let inLine = 0
  return new TransformStream({
    transform: (chunk, controller) => {
      total += chunk.length
      if (total > stream) throw new AnswerTooLong(`over ${megabytes(stream)} in all`)
      for (const byte of chunk) {
        if (byte === LF) {
          if (inLine === 0) inEvent = 0
          inLine = 0
        } else if (byte !== CR) inLine += 1
        inEvent += 1
        if (inEvent > event) throw new AnswerTooLong(`over ${megabytes(event)} in one event`)
      }
      controller.enqueue(chunk)
    },
  })
}

const LF = 0x0a
const CR = 0x0d

const megabytes = (bytes: number): string => `${bytes / 1_000_000} MB`
