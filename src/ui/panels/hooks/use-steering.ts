import { useState } from 'react'
import { RunsheetError } from '../../../client/http.ts'
import type { QueuedMessage } from '../../../core/model/queue.ts'
import { useRunsheet, type RunsheetSource } from '../parts/provider.tsx'

/** Queued messages to a working agent, and a person's actions on them. */
export interface SteeringHandle {
  /** Messages that wait for the next model call, oldest first. */
  readonly queued: readonly QueuedMessage[]
  /** No turn runs: the messages are left from a turn that was stopped or failed. `sendNow` starts a turn with them. */
  readonly isHeld: boolean
  /** The running turn is being stopped to deliver them. */
  readonly isSending: boolean
  /** Edits a message, given as the person saw it. Resolves to false if it has changed since or was delivered. */
  readonly edit: (message: QueuedMessage, text: string) => Promise<boolean>
  /** Withdraws a message. Resolves to its text, to restore the input field, or to undefined if it was too late. */
  readonly takeBack: (message: QueuedMessage) => Promise<string | undefined>
  /** Stops the turn and starts one with all queued messages. */
  readonly sendNow: (messageId: string) => Promise<boolean>
  /** A request is in flight. */
  readonly isBusy: boolean
  /** Why the last request was refused. */
  readonly error: unknown
}

/** Headless steering: messages that a person writes while the agent works, until they are delivered. */
export function useSteering(source?: RunsheetSource): SteeringHandle {
  const { client, session, view } = useRunsheet(source)
  const { queued, running_turn, turns } = view.state.conversation
  const [open, setOpen] = useState(0)
  const [error, setError] = useState<unknown>()

  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    setOpen(count => count + 1)
    setError(undefined)
    try {
      return await work()
    } catch (problem) {
      setError(problem)
      // The log may already show why it was refused.
      view.retry()
      return undefined
    } finally {
      setOpen(count => count - 1)
    }
  }
  return {
    queued,
    isHeld: queued.length > 0 && running_turn === null,
    isSending: queued.length > 0 && turns[running_turn ?? '']?.releases_queue === true,
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

/** A retried edit whose answer was lost is refused, although the message already has the text. */
const unlessSaid =
  (text: string) =>
  (error: unknown): true => {
    if (error instanceof RunsheetError && error.details.queued?.text === text) return true
    throw error
  }

/** Likewise, a withdrawal may already have succeeded. */
const unlessGone =
  (text: string) =>
  (error: unknown): string => {
    if (error instanceof RunsheetError && error.code === 'message_withdrawn') return text
    throw error
  }
