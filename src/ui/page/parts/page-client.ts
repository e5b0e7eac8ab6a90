import { type Client, createClient, type LiveConversation } from 'runsheet/client'
import { streamSlot } from '../chat/stream-slot.ts'

/** Live conversations share the browser's few connections and update at most once per frame. */
export function pageClient(token: string): Client {
  const client = createClient({ url: location.origin, token })
  return { ...client, live: (id, options) => oncePerFrame(client.live(id, { ...options, slot: streamSlot })) }
}

function oncePerFrame(live: LiveConversation): LiveConversation {
  const subscribe = (listener: () => void): (() => void) => {
    let frame: number | undefined
    const notify = (): void => {
      frame = undefined
      listener()
    }
    const unsubscribe = live.subscribe(() => {
      // Hidden windows have no animation frames.
      if (document.visibilityState === 'hidden') listener()
      else frame ??= requestAnimationFrame(notify)
    })
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame)
      unsubscribe()
    }
  }
  return { ...live, subscribe }
}
