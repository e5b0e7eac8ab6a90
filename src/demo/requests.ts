import { cut } from '../core/model/text.ts'
import { capitalised } from './texts.ts'

/** Verbs before which a list of deeds is split. */
const VERBS =
  'add|answer|arrange|ask|book|bring|build|buy|call|cancel|check|clean|collect|compare|compute|confirm|cook|create|decide|deploy|draft|email|find|fix|invite|learn|list|make|order|organi[sz]e|pack|pay|plan|practi[cs]e|prepare|publish|read|remove|rent|reply|research|review|run|say|schedule|search|sell|send|set|share|ship|show|start|submit|summari[sz]e|tell|test|transfer|translate|update|visit|wash|watch|write'

const BULLET = /^\s*(?:[-*•–]|\d{1,2}[.)])\s*(?:\[[ xX]?\]\s*)?(\S.*)$/
const NUMBER = /(?:^|\s)\(?\d{1,2}[.)]\s+/
const SENTENCE_END = /(?<=[.!?])(?<!\b(?:e\.g|i\.e|etc|vs|Dr|Mr|Mrs|Ms)\.)\s+|;\s+/
const CONNECTIVE = /\s*,?\s*\b(?:and then|then|after that|and finally|finally)\b[\s,]+/i
const SERIES = new RegExp(String.raw`(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?=(?:${VERBS})\s)`, 'i')
const POLITE =
  /^(?:(?:please|(?:can|could|would) you|i want to|help me(?: to)?|let's|first|second|third|then|and|also|next)[\s,:]+)+/i
const TALK =
  /^(?:hi|hello|hey|thanks?|thank you|good (?:morning|day)|tell me|let me know|explain|say|show|continue|go on|retry|ok|okay|yes|no|stop|你好|谢谢|继续)(?:\b|$)/iu

export const isQuestion = (text: string): boolean => /[?？]\s*$/.test(text)
export const isTalk = (text: string): boolean => TALK.test(text.trim())

/** The steps of a request: the items of a list, or its sentences, split where another deed begins. */
export function stepsIn(request: string): string[] {
  const steps = parts(request).map(tidy)
  const asked = steps.filter(
    step => step.length > 1 && !/^(?:tell me|let me know|hi|hello|hey|thanks|thank you)\W*$/i.test(step),
  )
  // Questions are answered, not planned.
  return asked.every(isQuestion) ? asked.slice(0, 1) : [...new Set(asked)]
}

/** Whether a request of one step is a goal to plan for. */
export const isGoal = (step: string): boolean =>
  !isQuestion(step) && !isTalk(step) && (/\S\s+\S/.test(step) || /\p{Script=Han}{4,}/u.test(step))

function parts(request: string): string[] {
  const lines = request.split(/\r?\n/).filter(line => line.trim() !== '')
  const items = lines.flatMap(line => BULLET.exec(line)?.[1] ?? [])
  if (items.length >= 2) return items
  const numbered = request.split(NUMBER)
  if (numbered.length >= 3) return numbered.slice(1)
  return request
    .replaceAll(/\s+/g, ' ')
    .split(SENTENCE_END)
    .flatMap(sentence => sentence.split(CONNECTIVE))
    .flatMap(sentence => {
      const [, rest = sentence] = /^[^:]{3,80}:\s+(\S.*)$/.exec(sentence) ?? []
      const series = rest.split(SERIES)
      return series.length >= 2 ? series : [sentence]
    })
}

const tidy = (part: string): string =>
  cut(
    capitalised(
      part
        .trim()
        .replace(POLITE, '')
        .replace(/[.!,;]+$/, '')
        .trim(),
    ),
    200,
  )

/** A plan for a goal that names no steps. Topics are quoted, so that they ask for nothing as part of a title. */
export function planFor(goal: string): string[] {
  const topic = `“${goal.replace(/^(?:plan|prepare|organi[sz]e|write|draft|outline|learn)\s+(?:for\s+)?(?:(?:a|an|the|my|our)\s+)?/i, '').replaceAll(/[“”"]/g, '')}”`
  const draft = (...forms: string[]): string[] => forms.map(form => `Draft ${form} ${topic}`)
  const deed = goal.charAt(0).toLowerCase() + goal.slice(1)
  const [, people] = /(\d{1,4}) (?:people|guests|friends)/i.exec(goal) ?? []
  if (/^(?:write|draft)\b/i.test(goal))
    return [...draft('questions about', 'an outline for'), goal, ...draft('a title for', 'a checklist for')]
  if (!/^(?:plan|prepare|organi[sz]e|outline|learn)\b/i.test(goal) && /^[\x20-\x7e]+$/.test(goal))
    return [`Draft a checklist for “${deed.replaceAll('"', '')}”`, goal, `Check that it worked: ${deed}`]
  const cost = people ? [`Compute the budget for ${people} people at 15 each: ${people} * 15`] : draft('a budget for')
  if (/\b(?:party|wedding|picnic|dinner|birthday|meeting|event)\b/i.test(goal))
    return [
      ...draft('a guest list template for'),
      ...cost,
      ...draft('an invitation to', 'a schedule for', 'a shopping list for'),
    ]
  if (/\b(?:trip|weekend|holiday|vacation|travel|journey)\b/i.test(goal))
    return [...draft('questions about', 'an itinerary for'), ...cost, ...draft('a packing list for', 'a checklist for')]
  return draft('questions about', 'an outline for', 'criteria for', 'a schedule for', 'a checklist for')
}
