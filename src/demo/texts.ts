import { cut } from '../core/model/text.ts'

/** Begins the outcome of a step that the demo model cannot do. */
export const SIMULATED = 'Simulated:'

/** A calculation that a title asks for: "12 * 7 = 84". */
export function compute(title: string): string | undefined {
  const [, expression = ''] = SUM.exec(title.slice(0, 400)) ?? []
  const value = /\d\s*\)*\s*[-+*/x×÷]/.test(expression) ? valueOf(expression) : undefined
  const spaced = expression.replaceAll(/(?<=[\d)])\s*([-+*/x×÷])\s*/g, ' $1 ').replaceAll(/\s+/g, ' ')
  return value === undefined ? undefined : `${spaced} = ${value}`
}

const SUM =
  /^(?:also )?(?:compute|calculate|what is|what's|how much is)\s+(?:the \w+ for \d+ people at \d+ each:\s*)?([-\d(][-+*/x×÷().\d\s]*[\d)])\s*[=?.]*$/i

/** Undefined if it is no expression or too large to be exact. */
function valueOf(expression: string): number | undefined {
  const signs = expression.replaceAll(/[x×]/gi, '*').replaceAll('÷', '/')
  const tokens = signs.match(/\d+(?:\.\d+)?|[-+*/()]|\S/g) ?? []
  let at = 0
  const chain = (allowed: string, next: () => number): number => {
    let value = next()
    for (let sign = tokens[at] ?? ' '; allowed.includes(sign); sign = tokens[at] ?? ' ') {
      at += 1
      const right = next()
      value = sign === '+' ? value + right : sign === '-' ? value - right : sign === '*' ? value * right : value / right
    }
    return value
  }
  const sum = (): number => chain('+-', () => chain('*/', factor))
  function factor(): number {
    const token = tokens[at++] ?? ''
    if (token === '-') return -factor()
    if (token !== '(') return /^\d/.test(token) ? Number(token) : Number.NaN
    const value = sum()
    return tokens[at++] === ')' ? value : Number.NaN
  }
  const value = sum()
  return at === tokens.length && Math.abs(value) < 1e12 ? Number(value.toPrecision(12)) : undefined
}

export interface Done {
  readonly title: string
  readonly outcome: string
}

export const isReport = (title: string): boolean =>
  /^(?:(?:write|draft|prepare) (?:the|a) (?:short )?(?:report|summary)(?: (?:of|on) (?:the )?(?:results|steps))?|summari[sz]e the (?:results|steps))\.?$/i.test(
    title.trim(),
  )

/** The text that a title asks for, in its own words; undefined if it takes more than the title to write it. */
export function write(title: string, done: readonly Done[] = []): string | undefined {
  if (isReport(title)) return `Report\n${bullets(done.map(each => `${each.title}: ${each.outcome}`))}`
  const [, verb = '', rest = ''] = ASKED.exec(title.trim().replace(/\.$/, '')) ?? []
  if (verb === '' || isCompound(rest) || rest.split(/\s+/).length > 16) return undefined
  const { kind, noun = '', about = '' } = kindOf(rest)
  const topic = about.replaceAll(/[“”"]/g, '').replace(ARTICLE, '')
  if (kind) return kind(topic, capitalised(noun))
  // Without knowledge it is only a draft, so it only satisfies a request for one.
  return /^(?:draft|outline|plan)$/i.test(verb) ? list(...PLAN)(rest.replaceAll(/[“”"]/g, ''), 'Draft') : undefined
}

const ASKED =
  /^(write|draft|compose|prepare|make|create|outline|plan|list)\s+(?:(?:a|an|the|my|our|some)\s+)?(?:(?:short|brief|friendly|simple|first)\s+)?(\S.*)$/i
const ARTICLE = /^(?:the|a|an|my|our)\s+/i

/** Whether a title asks for more than one thing, or refers to something else. Quotes are names. */
export const isCompound = (title: string): boolean =>
  /[,;]\s|\b(?:and (?!\d)|then|after|before|it|them|that|which|these|those)\b/i.test(
    title.replaceAll(/“[^”]*”|"[^"]*"/g, ''),
  )

type Kind = (topic: string, noun: string) => string

const bullets = (items: readonly string[]): string => items.map(item => `- ${item}`).join('\n')
const list =
  (...items: readonly string[]): Kind =>
  (topic, noun) =>
    `${noun}${topic === '' ? '' : `: ${topic}`}\n${bullets(items.map(item => item.replace('~', topic || 'it')))}`
const letter: Kind = topic =>
  `Subject: ${topic}\n\nHello,\n\nI am writing to you about ${topic}. Could we find a time this week to talk about it? Please tell me what suits you.\n\nBest wishes`

const PLAN = [
  'what ~ is for, in one sentence',
  'what is needed, and by when',
  'who does what',
  'how to tell that it is done',
]

const KINDS: Readonly<Record<string, Kind>> = {
  invitation: topic =>
    `You are invited${topic === '' ? '' : ` to the ${topic}`}.\n\nPlease tell us a week before whether you can come, and whom you bring.\n\nDate: …\nPlace: …`,
  'e-?mail|letter|message|note': letter,
  'haiku|poem': topic => `${capitalised(topic || 'Autumn')}.\nA slow light moves on the wall.\nNothing to be said.`,
  title: topic => `“${capitalised(topic)}”`,
  'guest list template': topic =>
    `Guest list: ${topic}\n\n| name | comes | brings |\n| --- | --- | --- |\n| … | yes / no | … |`,
  checklist: list(
    'the aim of ~ is written down',
    'it is clear who does what',
    'what is needed is there',
    'somebody has looked at it',
  ),
  'schedule|agenda|timetable': list(
    'first: get ready for ~',
    'then: the largest part',
    'after that: the rest',
    'last: look over it',
  ),
  itinerary: list('day 1: arrive, a walk', 'day 2: the main thing of ~', 'day 3: free, then home'),
  'shopping list': list('drinks', 'bread, cheese and fruit', 'a cake', 'napkins and cups'),
  'packing list': list('papers and tickets', 'clothes', 'medicine', 'chargers'),
  budget: list('the place: …', 'food and travel: …', 'material and help: …', 'a tenth in reserve'),
  questions: list(
    'What do I want ~ for?',
    'How much time and money do I have?',
    'Who has done it before?',
    'How can I tell that it works?',
  ),
  criteria: list('what ~ has to do', 'what it costs, now and later', 'who will use it'),
  'outline|plan': list(...PLAN),
}

/** "letter to my landlord about the heating": the kind of text, its noun, and what it is about. */
function kindOf(rest: string): { kind?: Kind; noun?: string | undefined; about?: string | undefined } {
  for (const [nouns, kind] of Object.entries(KINDS)) {
    const of = String.raw`^(${nouns})(?:\s+to\s+[\p{L} ]+?(?=\s+about\s))?(?:\s+(?:to|for|about|on|of)\s+(.+))?$`
    const [matched, noun, about] = new RegExp(of, 'iu').exec(rest) ?? []
    if (matched !== undefined) return { kind, noun, about }
  }
  return {}
}

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

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
