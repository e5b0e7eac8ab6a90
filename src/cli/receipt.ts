import type { Conversation } from '../domain/conversation.ts'
import { hasTasks, planOf } from '../domain/plan.ts'
import { RECEIPT_TYPES, type Receipt, receiptOf } from '../domain/receipt.ts'
import type { Door, Ref } from '../door/door.ts'
import { CliError } from './cli-error.ts'
import { allConversations, knownConversation, type ReadOptions, readStore } from './read-store.ts'
import { receiptMarkdown } from './receipt-markdown.ts'

export interface ReceiptOptions extends ReadOptions {
  readonly session?: string
  readonly turn?: string
  readonly format: 'md' | 'json'
}

/** Defaults to the newest turn with a plan. */
export function printReceipt(options: ReceiptOptions): Promise<void> {
  return readStore(options, async door => {
    const receipt = await foundReceipt(door, options)
    console.log(options.format === 'json' ? JSON.stringify(receipt, null, 2) : receiptMarkdown(receipt))
  })
}

async function foundReceipt(door: Door, { session, turn }: ReceiptOptions): Promise<Receipt> {
  if (session !== undefined) {
    const ref = await knownConversation(door, session)
    const receipt = await receiptIn(door, ref, turn)
    if (receipt) return receipt
    throw new CliError(`conversation ${session} has no ${turn === undefined ? 'plan' : `turn ${turn} with a plan`}.`)
  }
  for await (const ref of allConversations(door)) {
    const receipt = await receiptIn(door, ref, turn)
    if (receipt) return receipt
  }
  throw new CliError(turn === undefined ? 'there is no plan yet.' : `there is no turn ${turn} with a plan.`)
}

async function receiptIn(door: Door, ref: Ref, turn: string | undefined): Promise<Receipt | undefined> {
  const state = await door.read(ref)
  const turnId = turn ?? newestPlan(state)
  if (turnId === undefined || !state.turns.get(turnId)) return undefined
  return receiptOf(state, await door.conversations.events(ref, { types: RECEIPT_TYPES }), turnId)
}

const newestPlan = (state: Conversation): string | undefined =>
  [...state.turns.values()]
    .toSorted((a, b) => (a.started_at < b.started_at ? 1 : -1))
    .find(({ id }) => hasTasks(planOf(state, id)))?.id
