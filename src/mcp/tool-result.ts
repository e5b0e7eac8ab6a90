import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Json } from '../domain/event.ts'
import { AWAIT_REVIEW } from '../toolsets/observe.ts'

/** Sends an answer as text and as data, because hosts show the model only one of them. */
export function toolResult(answer: Json): CallToolResult {
  // Toolsets answer with objects; anything else is an error message.
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return errorResult(answer)
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
}

export function errorResult(answer: Json): CallToolResult {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  return { isError: true, content: [{ type: 'text', text }] }
}

/** The answer when a client cannot keep waiting for the checks of a claim or of a new plan. */
export function checkingResult(claim_id: string, isClaim: boolean): CallToolResult {
  const state = isClaim ? 'so nothing is settled yet' : 'and the work begins after them'
  const message = `Its checks are still running, ${state}. Call ${AWAIT_REVIEW} with this claim_id.`
  return toolResult({ status: 'checking', claim_id, message })
}

/** The answer when a client cannot keep waiting for a review: how to continue, and where the person decides. */
export function pendingResult(review_id: string, url: string | undefined, isDecided = false): CallToolResult {
  if (isDecided) {
    const message = `The user has decided, and the plan's checks run for the first time. Call ${AWAIT_REVIEW} with this review_id.`
    return toolResult({ status: 'pending_review', review_id, message })
  }
  const where = url === undefined ? '' : ` The user can decide at ${url} now.`
  const message = `Nothing is written yet.${where} Call ${AWAIT_REVIEW} with this review_id.`
  return toolResult({ status: 'pending_review', review_id, ...(url === undefined ? {} : { url }), message })
}
