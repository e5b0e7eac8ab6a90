import type { ReactElement } from 'react'
import type { MessageCall, ThreadTurn } from 'runsheet/client'
import { conversationStrings } from '../texts/english-conversation.ts'
import { ErrorCard } from '../chat/error-card.tsx'
import type { PageStrings } from '../texts/page-strings.ts'

interface ToolServersDownProps {
  readonly turn: ThreadTurn
  readonly strings: PageStrings
  readonly onSettings: () => void
}

export function ToolServersDown({ turn, strings, onSettings }: ToolServersDownProps): ReactElement {
  const words = conversationStrings(strings)
  return (
    <>
      {[...downIn(turn)].map(([server, problem]) => (
        <ErrorCard
          key={server}
          title={words.toolServerDown(server)}
          text={problem}
          hint={words.toolServerHint}
          settings={{ label: words.openSettings, open: onSettings }}
        />
      ))}
    </>
  )
}

/** Messages of the MCP client, of fetch, and of our own timeout. */
const DOWN = /connection closed|not connected|fetch failed|ECONN|socket hang up|no answer within|EPIPE|terminated/i

/** Maps each server to its last problem; a successful later call clears it. */
function downIn({ items }: ThreadTurn): ReadonlyMap<string, string> {
  const down = new Map<string, string>()
  const look = ({ tool, answer }: MessageCall): void => {
    const [, server] = /^(.+?)__/.exec(tool) ?? []
    if (server === undefined || !answer) return
    const said = typeof answer.result === 'string' ? answer.result : ''
    if (!answer.ok && DOWN.test(said)) down.set(server, said)
    else if (answer.ok) down.delete(server)
  }
  for (const item of items) {
    if (item.kind === 'message') item.calls.forEach(look)
    if (item.kind === 'step') for (const each of item.step.items) if (each.kind === 'call') look(each.call)
  }
  return down
}
