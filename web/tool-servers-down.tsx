import type { ReactElement } from 'react'
import type { MessageCall, ThreadTurn } from 'runsheet/client'
import { conversationStrings } from './english-conversation.ts'
import { ErrorCard } from './error-card.tsx'
import type { PageStrings } from './page-strings.ts'

interface ToolServersDownProps {
  readonly turn: ThreadTurn
  readonly strings: PageStrings
  readonly onSettings: () => void
}

/** A card for each MCP server whose connection was lost, or that did not answer, in a turn. */
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

/** What is said where no server answers; the words of the MCP client, of fetch, and our own for a timeout. */
const DOWN = /connection closed|not connected|fetch failed|ECONN|socket hang up|no answer within|EPIPE|terminated/i

/** Server to its last problem; a server whose latest call succeeded is not down. */
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
