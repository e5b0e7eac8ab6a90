import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Json } from '../domain/event.ts'

/** What a tool answered, as text for the model and as data for its host. */
export function answered(result: Json): CallToolResult {
  // What is no object is a failure in words.
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return refused(result)
  return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } }
}

/** A refusal is for the model to read and to do better. */
export function refused(result: Json): CallToolResult {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return { isError: true, content: [{ type: 'text', text }] }
}

/** Nobody has decided yet, and this client cannot wait on: it is told how to, and where the person is asked. */
export function pending(review_id: string, page: string | undefined): CallToolResult {
  const structuredContent = { status: 'pending_review', review_id }
  const where = page === undefined ? '' : ` They can decide at ${page}`
  const text = `Nothing is written yet: a person is being asked.${where} Call ${AWAIT_REVIEW} with this review_id to wait for the answer.`
  return {
    content: [
      { type: 'text', text: JSON.stringify(structuredContent) },
      { type: 'text', text },
    ],
    structuredContent,
  }
}

export const AWAIT_REVIEW = 'await_review'
