import type { ReactElement } from 'react'
import type { LiveState } from 'runsheet/client'
import { durationText, localeOf } from 'runsheet/react'
import { conversationStrings } from '../texts/english-conversation.ts'
import type { PageStrings } from '../texts/page-strings.ts'

interface TurnFiguresProps {
  readonly turn: string
  readonly state: LiveState
  readonly strings: PageStrings
}

/** Only for turns that Runsheet drove and that did not fail. */
export function TurnFigures({ turn, state, strings }: TurnFiguresProps): ReactElement | null {
  const { model, status } = state.conversation.turns[turn] ?? {}
  if (model === undefined || status === 'failed') return null
  const words = conversationStrings(strings)
  const count = (tokens: number): string => tokens.toLocaleString(localeOf(strings.panels))
  const worked = (state.work[turn]?.spans ?? []).reduce((ms, { from, to }) => ms + Date.parse(to) - Date.parse(from), 0)
  const usage = state.thread[turn]?.findLast(mark => mark.kind === 'end')?.usage
  // Do not add up other token counts of the provider.
  const input = Number(usage?.['input_tokens'] ?? 0)
  const output = Number(usage?.['output_tokens'] ?? 0)
  // The demo model counts words.
  const hasTokens = input + output > 0 && model !== 'demo'
  return (
    <p className="app-figures">
      {durationText(worked, strings.panels)}
      {hasTokens && (
        <span title={words.tokensInOut(count(input), count(output))}>
          {' · '}
          {words.tokens(count(input + output))}
        </span>
      )}
    </p>
  )
}
