import { assessorStats, type AssessorStats, type AssessorStatsByModel } from '../core/views/assessor-stats.ts'
import { DECISION_TYPES, decisionsIn, type RecordedDecision } from '../core/model/decision.ts'
import type { Origin } from '../core/model/origin.ts'
import { visible } from '../core/text/plain-text.ts'
import type { Door, Ref } from '../engine/door/door.ts'
import { allConversations, knownConversation, readStore, type ReadOptions } from './server/open-store.ts'

interface AuditOptions extends ReadOptions {
  readonly session?: string
  readonly json?: true
}

export function printAudit(options: AuditOptions): Promise<void> {
  return readStore(options, async door => {
    const decisions = await allDecisions(door, options.session)
    const lineOf = options.json ? jsonLine : textLine
    for (const decision of decisions) console.log(lineOf(decision))
    if (decisions.length === 0 && !options.json) console.log('No decisions yet.')
  })
}

async function allDecisions(door: Door, session: string | undefined): Promise<readonly RecordedDecision[]> {
  if (session !== undefined) return decisionsOf(door, await knownConversation(door, session))
  const all: RecordedDecision[] = []
  for await (const ref of allConversations(door)) all.push(...(await decisionsOf(door, ref)))
  return all.sort((a, b) => (a.event.timestamp < b.event.timestamp ? -1 : 1))
}

const decisionsOf = async (door: Door, ref: Ref): Promise<readonly RecordedDecision[]> =>
  decisionsIn(await door.conversations.events(ref, { types: DECISION_TYPES }))

function jsonLine({ event, what }: RecordedDecision): string {
  const { type, timestamp, session_id, turn_id, seq, data } = event
  return JSON.stringify({
    timestamp,
    session_id,
    turn_id,
    seq,
    type,
    what,
    origin: data.origin ?? null,
  })
}

function textLine({ event, what }: RecordedDecision): string {
  const { timestamp, session_id, data } = event
  // Client names and task titles are untrusted text.
  return visible([timestamp, session_id, what, ...origin(data.origin)].join('  '))
}

function origin(from: Origin | undefined): readonly string[] {
  if (!from) return ['not recorded']
  const { actor, credential, edge, address, claimed } = from
  const who = credential === undefined || credential === actor ? actor : `${actor} (${credential})`
  const where = [EDGES[edge], ...(address === undefined ? [] : [`at ${address}`])].join(' ')
  return [who, where, ...(claimed ? [`says it is "${claimed.client}"`] : [])]
}

export const EDGES: Record<Origin['edge'], string> = {
  page: 'page',
  http: 'HTTP',
  mcp: 'MCP',
  mcp_form: 'MCP form',
  mcp_link: 'MCP link',
  terminal: 'terminal',
  library: 'library',
  turn: 'turn',
  file: 'task file',
  system: 'by itself',
}

/** Prints how often people overruled each judge's verdicts. */
export function printStats(options: ReadOptions): Promise<void> {
  return readStore(options, async door => {
    const { models } = await allStats(door)
    if (models.size === 0) console.log('No judgements yet.')
    for (const [model, stats] of models.entries()) console.log(visible(line(model, stats)))
  })
}

async function allStats(door: Door): Promise<AssessorStatsByModel> {
  let all = assessorStats.initial
  for await (const ref of allConversations(door)) {
    all = (await door.conversations.events(ref, { types: assessorStats.types })).reduce(assessorStats.apply, all)
  }
  return all
}

const line = (model: string, stats: AssessorStats): string => {
  const { judged, ok, not_ok, unknown, overruled, false_passes, false_rejects } = stats
  const wrong = `${overruled} overruled (${false_passes} false passes, ${false_rejects} false rejects)`
  return `${model}: ${judged} judged (${ok} ok, ${not_ok} not ok, ${unknown} unknown), ${wrong}`
}
