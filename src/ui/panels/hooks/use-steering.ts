import { useRef, useState } from 'react'
import { randomId } from '../../../client/random-id.ts'
import { RunsheetError } from '../../../client/runsheet-error.ts'
import type { QueuedMessage } from '../../../core/model/queue.ts'
import { type RunsheetSource, useRunsheet } from '../parts/provider.tsx'

/** Queued messages to a working agent, and a person's actions on them. */
export interface SteeringHandle {
  /** Messages that wait for the next model call, oldest first. */
  readonly queued: readonly QueuedMessage[]
  /** No turn runs: the messages are left from a turn that was stopped or failed. `sendNow` starts a turn with them. */
  readonly isHeld: boolean
  /** The running turn is being stopped to deliver them. */
  readonly isSending: boolean
  /**
   * Sends a message to the working agent; without a running turn, continues the latest one. Messages arrive in the
   * order of the calls. Retrying the same text after a failure does not send it twice. Resolves to whether the server
   * has the message; otherwise `error` says why not.
   */
  readonly send: (text: string) => Promise<boolean>
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
  const before = useRef<Promise<unknown>>(Promise.resolve())
  // A failed message keeps its id, so that a retry cannot send it twice.
  const failed = useRef({ session, text: '', id: '' })
  const latest = useRef(view.state)
  latest.current = view.state

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
  const send = (text: string): Promise<boolean> => {
    const sent = before.current.then(async () => {
      const last = failed.current
      const { conversation, messages } = latest.current
      // It arrived if the log has it: then equal text is another message.
      const hasArrived = [conversation.queued, messages].some(each =>
        each.some(({ message_id }) => message_id === last.id),
      )
      const isRetry = last.session === session && last.text === text && !hasArrived
      const id = isRetry ? last.id : randomId()
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
