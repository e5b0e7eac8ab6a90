import {
  ACTIONS,
  AMBIGUOUS,
  CHINESE_ACTION,
  CHINESE_EVENT,
  CHINESE_FACT,
  CHINESE_JOURNEY,
  EVENT,
  FACTS,
  FUNCTION_WORDS,
  JOURNEY,
} from './lexicon.ts'
import { isChinese } from './language.ts'

/** The texts that the demo model can write without knowing more than the title says. */
export type Form =
  | 'invitation'
  | 'mail'
  | 'announcement'
  | 'haiku'
  | 'poem'
  | 'title'
  | 'guests'
  | 'checklist'
  | 'shopping'
  | 'packing'
  | 'schedule'
  | 'itinerary'
  | 'study'
  | 'budget'
  | 'criteria'
  | 'questions'
  | 'outline'
  | 'report'

/** What a title asks to be written. */
export interface Asked {
  readonly form: Form
  /** What the text is about, without quotes; empty if the title does not say. */
  readonly topic: string
  /** Whom it is addressed to. */
  readonly to: string
}

/** The text that a title asks for; undefined if it asks for another one, or for anything else as well. */
export function asked(title: string): Asked | undefined {
  const bare = title.trim().replace(/[.。!！]$/, '')
  return isChinese(bare) ? chinese(bare) : english(bare)
}

/** Whether the words name one thing and ask for nothing: quoted, or nouns without verbs, joins or references. */
export function isNoun(text: string, { mayBeFact = false } = {}): boolean {
  const words = text.toLowerCase().replaceAll(QUOTED, 'x').split(' ')
  if (words.length > 10 || PREPOSITION.test(words.at(-1) ?? '')) return false
  return words.every(
    word =>
      /^[\p{L}\p{N}][\p{L}\p{N}'’-]*$/u.test(word) &&
      !/^\d{4}$/.test(word) &&
      !FUNCTION_WORDS.has(word) &&
      (!ACTIONS.has(word) || AMBIGUOUS.has(word)) &&
      (mayBeFact || !FACTS.has(word)),
  )
}

const QUOTED = /“[^“”]+”|"[^"]+"/g
const PREPOSITION = /^(?:of|in|for|at|to|on|about|the|a|an|my|our|your)$/

interface Shape {
  readonly form: Form
  /** What follows the verb and its article; it may capture `to` and `topic`. */
  readonly of: RegExp
  readonly topic?: RegExp
  readonly mayBeFact?: true
  /** Without knowledge it is only a draft, and only done if a draft is asked for. */
  readonly isDraft?: true
}

const VERB = /^(?:write|draft|compose|prepare|make|create)\s+(?:me\s+|us\s+)?(?:(?:a|an|the|my|our|some)\s+)?/i
const ADJECTIVE = /^(?:short|brief|friendly|polite|formal|simple|general|rough|first|quick|little|final)\s+/i

const ENGLISH: readonly Shape[] = [
  { form: 'invitation', of: /^invitations?(?:\s+(?:to|for)\s+(?<topic>.+))?$/i },
  {
    form: 'mail',
    of: /^(?:e-?mail|letter|message|note)(?:\s+to\s+(?<to>.+?))?\s+about\s+(?<topic>.+)$/i,
  },
  { form: 'announcement', of: /^announcement\s+(?:of|about|for)\s+(?<topic>.+)$/i },
  { form: 'haiku', of: /^haiku(?:\s+(?:about|on)\s+(?<topic>.+))?$/i, mayBeFact: true },
  { form: 'poem', of: /^poem(?:\s+(?:about|on)\s+(?<topic>.+))?$/i, mayBeFact: true },
  { form: 'title', of: /^title\s+for\s+(?<topic>.+)$/i, mayBeFact: true },
  { form: 'guests', of: /^guest list template(?:\s+for\s+(?<topic>.+))?$/i },
  { form: 'checklist', of: /^checklist\s+for\s+(?<topic>.+)$/i },
  { form: 'shopping', of: /^shopping list\s+for\s+(?<topic>.+)$/i, topic: EVENT },
  { form: 'packing', of: /^packing list\s+for\s+(?<topic>.+)$/i, topic: JOURNEY },
  { form: 'schedule', of: /^(?:schedule|agenda|timetable)\s+for\s+(?<topic>.+)$/i, isDraft: true },
  { form: 'itinerary', of: /^itinerary\s+for\s+(?<topic>.+)$/i, topic: JOURNEY, isDraft: true },
  { form: 'study', of: /^study plan\s+for\s+(?<topic>.+)$/i },
  { form: 'budget', of: /^budget\s+for\s+(?<topic>.+)$/i, isDraft: true },
  { form: 'criteria', of: /^criteria\s+for\s+(?<topic>.+)$/i, isDraft: true },
  { form: 'questions', of: /^questions\s+about\s+(?<topic>.+)$/i },
  { form: 'outline', of: /^outline\s+for\s+(?<topic>.+)$/i },
  { form: 'report', of: /^(?:report|summary)(?:\s+(?:of|on)\s+(?:the\s+)?(?:results|steps))?$/i },
]
const SAY = /^(?:say it|tell (?:me|us) the (?:results?|answers?)|summari[sz]e the (?:results|steps))$/i

function english(title: string): Asked | undefined {
  if (SAY.test(title)) return { form: 'report', topic: '', to: '' }
  const [verb] = VERB.exec(title) ?? []
  if (verb === undefined) return undefined
  const rest = title.slice(verb.length).replace(ADJECTIVE, '').replaceAll(/\s+/g, ' ')
  const shapes = /^draft\b/i.test(title) ? ENGLISH : ENGLISH.filter(({ isDraft }) => isDraft !== true)
  return fitting(shapes, rest, (text, mayBeFact) => isNoun(text, { mayBeFact }))
}

const CHINESE_VERB =
  /^(?:请|帮我)?(?:写出|写|起草|草拟|撰写|拟定|制定|列出|列)(?:一下)?(?:[一这两三]?[份封首篇个张则条])?/
const FOR = String.raw`(?:关于)?(?<topic>.+?)的?`

const CHINESE: readonly Shape[] = [
  { form: 'invitation', of: new RegExp(`^(?:${FOR})?(?:邀请函|请柬)$`) },
  { form: 'mail', of: /^(?:[给致](?<to>.{1,6}?)的)?关于(?<topic>.+)的(?:邮件|信|消息)$/ },
  { form: 'announcement', of: new RegExp(`^${FOR}(?:通知|公告)$`) },
  { form: 'haiku', of: new RegExp(`^(?:${FOR})?俳句$`), mayBeFact: true },
  { form: 'poem', of: new RegExp(`^(?:${FOR})?小?诗$`), mayBeFact: true },
  { form: 'title', of: new RegExp(`^${FOR}标题$`), mayBeFact: true },
  { form: 'guests', of: new RegExp(`^(?:${FOR})?宾客名单模板$`) },
  { form: 'checklist', of: new RegExp(`^${FOR}检查清单$`) },
  { form: 'shopping', of: new RegExp(`^${FOR}购物清单$`), topic: CHINESE_EVENT },
  { form: 'packing', of: new RegExp(`^${FOR}行李清单$`), topic: CHINESE_JOURNEY },
  { form: 'schedule', of: new RegExp(`^${FOR}(?:日程|议程|时间表)草案$`) },
  { form: 'itinerary', of: new RegExp(`^${FOR}行程草案$`), topic: CHINESE_JOURNEY },
  { form: 'study', of: new RegExp(`^${FOR}学习计划$`) },
  { form: 'budget', of: new RegExp(`^${FOR}预算草案$`) },
  { form: 'criteria', of: new RegExp(`^${FOR}标准$`) },
  { form: 'questions', of: new RegExp(`^${FOR}问题$`) },
  { form: 'outline', of: new RegExp(`^${FOR}(?:大纲|提纲)$`) },
  { form: 'report', of: /^(?:报告|总结)$/ },
]

function chinese(title: string): Asked | undefined {
  if (/^告诉我(?:结果|答案)$/.test(title)) return { form: 'report', topic: '', to: '' }
  const [verb] = CHINESE_VERB.exec(title) ?? []
  return verb === undefined ? undefined : fitting(CHINESE, title.slice(verb.length), isChineseNoun)
}

/** Whether the characters name one thing and ask for nothing. */
export function isChineseNoun(text: string, mayBeFact = false): boolean {
  const bare = text.replaceAll(QUOTED, 'x')
  const isPlain = /^[\p{Script=Han}A-Za-z0-9 ]{1,16}$/u.test(bare)
  return isPlain && !CHINESE_ACTION.test(bare) && (mayBeFact || !CHINESE_FACT.test(bare))
}

function fitting(
  shapes: readonly Shape[],
  rest: string,
  isName: (text: string, mayBeFact: boolean) => boolean,
): Asked | undefined {
  const shape = shapes.find(({ of }) => of.test(rest))
  if (!shape) return undefined
  const { topic = '', to = '' } = shape.of.exec(rest)?.groups ?? {}
  const areNames = [topic, to].every(text => text === '' || isName(text, shape.mayBeFact ?? false))
  const fits = shape.topic === undefined || shape.topic.test(topic)
  return areNames && fits ? { form: shape.form, topic: topic.replaceAll(/[“”"]/g, ''), to } : undefined
}
