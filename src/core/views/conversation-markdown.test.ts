import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import Markdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { expect, it } from 'vitest'
import { Driver, inRun } from '../../../test/support/domain.ts'
import { CORPUS, corpusLog } from '../../../test/support/corpus.ts'
import { emptyConversation, fold } from '../model/conversation.ts'
import { conversationMarkdown } from './conversation-markdown.ts'
import type { StoredEvent } from '../model/event.ts'
import { view } from './view.ts'

const AT = '2026-11-16T15:00:00.000Z'

const exported = (log: readonly StoredEvent[]): string =>
  conversationMarkdown(fold(emptyConversation(log[0]?.session_id ?? ''), log), view.of(log), AT)

const rendered = (markdown: string): string =>
  renderToStaticMarkup(createElement(Markdown, { remarkPlugins: [remarkGfm] }, markdown))

const says = (chat: Driver, text: string): void =>
  void chat.run({
    type: 'record',
    turn_id: 'turn-1',
    fact: { type: 'message_added', data: { message_id: `m${chat.log.length}`, role: 'assistant', text } },
  })

it('the Markdown of a conversation has its messages, plans, steps, outcomes and standings', () => {
  expect(exported(corpusLog('proven'))).toBe(`# editor in app · Fix the parser

Conversation \`proven\`, exported from Runsheet on 2026-11-16 15:00 UTC.

### Plan: approved

2 steps, 1 edited. 2026-11-02 09:00 UTC.

- Fix the parser _edited_
- Write the notes

### Step 1: Fix the parser (done, proven)

**Outcome:** It parses now.

- Used \`Bash\`, as the agent says
- Used \`Bash\`, as the host says
- Check \`npm test\`: failed, 880 ms
- Check \`npm test\`: passed, 910 ms

### Step 2: Write the notes (open)

- Check \`CHANGES.md exists\`: inconclusive, 250 ms

**1 of 2 done: 1 proven.**

## Tasks

| | task | status | outcome |
| --- | --- | --- | --- |
| 1 | Fix the parser | done, proven | It parses now. |
| 2 | Write the notes | open |  |
`)
})

it('a decided plan says what the person changed and wrote', () => {
  const text = exported(corpusLog('planned'))
  expect(text).toContain('### Plan: sent back for changes')
  expect(text).toContain('### Plan: approved')
  expect(text).toContain('3 steps, 1 edited, 1 added, 1 removed.')
  expect(text).toContain('- Collect all figures _edited_ (was: Collect figures)')
  expect(text).toContain('Nobody reads paper')
})

it('what others wrote stays within its place', () => {
  const chat = inRun()
  chat.run({ type: 'set_title', by: 'person', title: '# <b>Bold</b> | [x](http://evil)' })
  says(chat, 'Look:\n```ts\nconst open = 1')
  chat.run(chat.adds('model', '<img src=x onerror=alert(1)> | @all'))
  chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'line one\nline two | three' }))
  chat.finish('turn-1')
  const html = rendered(exported(chat.log))
  expect(html).toContain('<h2>Tasks</h2>')
  expect(html.match(/<h1>/g)).toHaveLength(1)
  expect(html).not.toMatch(/<img|<b>|href=/)
  expect(html.match(/<tbody>.*<\/tbody>/s)?.[0].match(/<td/g)).toHaveLength(4)
})

it('a call that its turn left without an answer is told as one whose outcome is unknown', () => {
  const chat = inRun()
  const call = { tool_call_id: 'call-1', tool: 'pay', arguments: {} }
  const data = { step: 1, message_id: 'm1', text: 'I pay.', tool_calls: [call], usage: {}, digest_seq: 1 }
  chat.run({ type: 'record', turn_id: 'turn-1', fact: { type: 'step_finished', data } })
  expect(exported(chat.log)).toContain('- Used `pay`\n')
  chat.finish('turn-1')
  expect(exported(chat.log)).toContain('- Used `pay` (stopped, outcome unknown)\n')
})

it('every log of the corpus can be exported', () => {
  for (const name of CORPUS) {
    const text = exported(corpusLog(name))
    expect(text).toMatch(/^# \S/)
    expect(text).not.toMatch(/undefined|\[object/)
  }
})
