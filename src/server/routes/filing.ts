import * as z from 'zod'
import type { Command } from '../../core/model/command.ts'
import { conversationMarkdown } from '../../core/views/conversation-markdown.ts'
import { view } from '../../core/views/view.ts'
import type { FiledSessionAnswer } from '../../core/views/wire.ts'
import { exportedConversation } from '../../engine/door/conversations.ts'
import { SAFE } from '../http/replies.ts'
import { route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'
import { eventsUpTo, known } from './sessions.ts'

const ofSession = z.object({ session_id: s.id })

export const filingRoutes = routes('Sessions', {
  fileSession: route('patch', '/api/sessions/:session_id', 'person', {
    summary: 'Names, pins or archives a conversation, or takes that back',
    params: ofSession,
    body: s.filing,
    answers: { 200: { description: 'The conversation', schema: shape('FiledSessionAnswer') } },
    handle: async ({ body, ref }, { door }) => {
      await known(door, ref)
      await door.run(ref, ...commandsOf(body))
      const session = await door.conversations.summary(ref)
      if (!session) throw new TypeError('a conversation that was changed does not exist')
      return { body: { session } satisfies FiledSessionAnswer }
    },
  }),
  exportMarkdown: route('get', '/api/sessions/:session_id/export.md', 'person', {
    summary: 'A conversation to read: its messages, its plans, the work by step, and the tasks with their outcomes',
    params: ofSession,
    answers: { 200: { description: 'Markdown', type: 'text/markdown' } },
    handle: async ({ params, ref, method }, { door }) => {
      const state = await known(door, ref)
      const headers = fileHeaders(params.session_id, 'text/markdown', 'md')
      if (method === 'HEAD') return { headers }
      const [events, now] = await Promise.all([eventsUpTo(door, ref, state.seq, view.types), door.now()])
      return { text: conversationMarkdown(state, view.of(events), now), headers }
    },
  }),
  exportLog: route('get', '/api/sessions/:session_id/export.jsonl', 'person', {
    summary: 'The whole log of a conversation, as `runsheet export` writes and `runsheet import` reads it',
    params: ofSession,
    answers: { 200: { description: 'JSON lines; the first says what follows', type: 'application/jsonl' } },
    handle: async ({ params, ref, method }, { door }) => {
      const { seq } = await known(door, ref)
      const headers = fileHeaders(params.session_id, 'application/jsonl', 'jsonl')
      if (method === 'HEAD') return { headers }
      return new Response(streamOf(exportedConversation(door.conversations, ref, seq)), {
        headers: { ...SAFE, ...headers },
      })
    },
  }),
})

/** Pulls a piece only after the previous one was sent. */
function streamOf(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    pull: async controller => {
      const { value, done } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: async () => void (await pieces.return(undefined)),
  })
}

const fileHeaders = (session: string, type: string, ending: string): Readonly<Record<string, string>> => ({
  'content-type': `${type}; charset=utf-8`,
  'content-disposition': `attachment; filename="runsheet-${session}.${ending}"`,
})

function commandsOf({ title, pinned, archived }: z.output<typeof s.filing>): Command[] {
  return [
    ...(title === undefined ? [] : [{ type: 'set_title' as const, by: 'person' as const, title }]),
    ...(pinned === undefined ? [] : [{ type: 'set_pinned' as const, pinned }]),
    ...(archived === undefined ? [] : [{ type: 'set_archived' as const, archived }]),
  ]
}
