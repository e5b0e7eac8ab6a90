import { useRef, useState } from 'react'
import { randomId } from '../client/random-id.ts'
import { RunsheetError } from '../client/runsheet-error.ts'
import type { QueuedMessage } from '../domain/queue.ts'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'

/** The messages to an agent at work that it does not have yet, and what a person can do with them. */
export interface SteeringHandle {
  /** What waits for the next model call, oldest first. */
  readonly queued: readonly QueuedMessage[]
  /** No turn runs: a turn that was stopped or failed has left them, and `sendNow` starts one with them. */
  readonly isHeld: boolean
  /** The running turn is being stopped for them. */
  readonly isSending: boolean
  /**
   * Writes to the agent at work; without a running turn, to go on from the latest. Messages arrive in the order of the
   * calls. The same text after a failure is the same message. Whether the server has it; otherwise `error` says why not.
   */
  readonly send: (text: string) => Promise<boolean>
  /** Edits a message, passed as the person saw it when they began. False if it has changed since, or was delivered. */
  readonly edit: (message: QueuedMessage, text: string) => Promise<boolean>
  /** Takes a message back. Resolves with its text, for the field that it came from; undefined if it was too late. */
  readonly takeBack: (message: QueuedMessage) => Promise<string | undefined>
  /** Stops the turn, and starts one with all that waits. */
  readonly sendNow: (messageId: string) => Promise<boolean>
  /** A request is on its way. */
  readonly isBusy: boolean
  /** Why the last request was refused. */
  readonly error: unknown
}

/** Steering without any UI: what a person writes while the agent works, until the agent has it. */
export function useSteering(source?: RunsheetSource): SteeringHandle {
  const { client, session, view } = useRunsheet(source)
  const { queued, running_turn, turns } = view.state.conversation
  const [open, setOpen] = useState(0)
  const [error, setError] = useState<unknown>()
  const before = useRef<Promise<unknown>>(Promise.resolve())
  // A failed message keeps its id, so that repeating it cannot send it twice.
  const failed = useRef({ session, text: '', id: '' })

  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    setOpen(count => count + 1)
    setError(undefined)
    try {
      return await work()
    } catch (problem) {
      setError(problem)
      // The log may show already why it was refused.
      view.retry()
      return undefined
    } finally {
      setOpen(count => count - 1)
    }
  }
  const send = (text: string): Promise<boolean> => {
    const sent = before.current.then(async () => {
      const last = failed.current
      const id = last.session === session && last.text === text ? last.id : randomId()
      failed.current = { session, text, id }
      const answer = await attempt(() => client.sendMessage(session, text, id))
      if (answer) failed.current = { session, text: '', id: '' }
      return answer !== undefined
    })
    before.current = sent
    return sent
  }
  return {
    queued,
    isHeld: queued.length > 0 && running_turn === null,
    isSending: queued.length > 0 && turns[running_turn ?? '']?.releases_queue === true,
    send,
    edit: async ({ message_id, version }, text) => {
      const edited = () => client.editMessage(session, message_id, version, text).catch(unlessSaid(text))
      return (await attempt(edited)) !== undefined
    },
    takeBack: ({ message_id, version, text }) =>
      attempt(() =>
        client
          .withdrawMessage(session, message_id, version)
          .then(({ message }) => message.text)
          .catch(unlessGone(text)),
      ),
    sendNow: async messageId => (await attempt(() => client.sendMessageNow(session, messageId))) !== undefined,
    isBusy: open > 0,
    error,
  }
}

/** An edit whose answer was lost is refused when it is repeated, although the message says what it should. */
const unlessSaid =
  (text: string) =>
  (error: unknown): true => {
    if (error instanceof RunsheetError && error.details.queued?.text === text) return true
    throw error
  }

/** In the same way, a message that was taken back already. */
const unlessGone =
  (text: string) =>
  (error: unknown): string => {
    if (error instanceof RunsheetError && error.code === 'message_withdrawn') return text
    throw error
  }
