import { EventSourceParserStream } from 'eventsource-parser/stream'
import { useCallback, useEffect, useState } from 'react'
import type { EventData, StoredEvent } from 'runsheet/client'
import type { ConversationView } from 'runsheet/react'
import { readLog } from './read-log.ts'

export type Answer = Pick<EventData['tool_answered'], 'result' | 'ok' | 'duration_ms'>

/** What the tools answered: as it comes, and of what came before on being asked for. */
export interface Answers {
  readonly of: (turn: string | null, call: string) => Answer | undefined
  /** Reads those that are not known yet. */
  readonly read: () => void
  readonly hasFailed: boolean
}

export function useAnswers(view: ConversationView): Answers {
  const { onEvent } = view
  const { session_id, seq } = view.state.conversation
  const [known, setKnown] = useState<ReadonlyMap<string, Answer>>(new Map())
  const [readTo, setReadTo] = useState(0)
  const [asked, setAsked] = useState(0)
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => onEvent(event => setKnown(before => withAnswer(before, event))), [onEvent])
  useEffect(() => {
    if (asked <= readTo || session_id === '') return
    const end = new AbortController()
    answersTo(session_id, readTo, asked, end.signal).then(
      read => {
        setKnown(before => new Map([...before, ...read]))
        setReadTo(asked)
        setFailed(false)
      },
      () => !end.signal.aborted && setFailed(true),
    )
    return () => end.abort()
  }, [session_id, asked, readTo])
  return {
    of: useCallback((turn, call) => known.get(keyOf(turn, call)), [known]),
    read: useCallback(() => setAsked(seq), [seq]),
    hasFailed,
  }
}

/** The log from one event to another, for what the tools answered in it. */
async function answersTo(
  session: string,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Answer>> {
  const line = new AbortController()
  const cut = (): void => line.abort()
  signal.addEventListener('abort', cut)
  const answers = new Map<string, Answer>()
  try {
    const body = await readLog(session, from, line.signal)
    const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
    for (const reader = events.getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) throw new Error('the log ended early')
      const event = JSON.parse(value.data) as StoredEvent
      for (const [key, answer] of withAnswer(NONE, event)) answers.set(key, answer)
      if (event.seq >= to) return answers
    }
  } finally {
    signal.removeEventListener('abort', cut)
    line.abort()
  }
}

const NONE: ReadonlyMap<string, Answer> = new Map()

function withAnswer(known: ReadonlyMap<string, Answer>, { type, turn_id, data }: StoredEvent) {
  if (type !== 'tool_answered') return known
  const { result, ok, duration_ms } = data
  return new Map(known).set(keyOf(turn_id, data.tool_call_id), { result, ok, duration_ms })
}

const keyOf = (turn: string | null, call: string): string => `${turn}/${call}`
