import { compute } from './compute.ts'
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
  isChinese,
  JOURNEY,
} from './lexicon.ts'

export interface Done {
  readonly title: string
  readonly outcome: string
}

/** A text that a title asks for and that needs no more knowledge than the title. */
interface Text {
  readonly isReport: boolean
  readonly written: (done: readonly Done[]) => string
}

/** The outcome of a step, or why it was only simulated. */
export type Work = { readonly outcome: string } | { readonly simulated: string }

export interface Past {
  readonly done: readonly Done[]
  readonly hasGaps: boolean
}

/** Does a step if it can be done entirely without tools: computes, or writes the requested text. */
export function workOn(title: string, { done, hasGaps }: Past): Work {
  const words = isChinese(title) ? CHINESE_REASONS : REASONS
  const result = compute(title)
  if (result !== undefined) return { outcome: result }
  const text = textFor(title)
  if (text?.isReport && (hasGaps || done.length === 0)) return { simulated: hasGaps ? words.gaps : words.nothingYet }
  return text ? { outcome: text.written(done) } : { simulated: words.noTool }
}

/** Reported for a step whose details or criteria ask for more than its title. */
export const beyondTitle = (title: string): string => (isChinese(title) ? CHINESE_REASONS : REASONS).details

const REASONS = {
  noTool: 'Simulated: the demo model has no tool for this.',
  nothingYet: 'Simulated: no step before this one was done, so there is nothing to write about.',
  gaps: 'Simulated: a step before this one was not done, so there is not everything to write about.',
  details: 'Simulated: the demo model goes by the title alone, and this step has details.',
}
const CHINESE_REASONS: typeof REASONS = {
  noTool: '模拟：演示模型没有做这件事的工具。',
  nothingYet: '模拟：前面没有完成的步骤，所以没有可写的内容。',
  gaps: '模拟：前面有步骤没有完成，所以内容不全，写不出来。',
  details: '模拟：演示模型只看标题，而这一步还有细节。',
}

export const isSimulated = (outcome: string): boolean => /^(?:Simulated:|模拟：)/.test(outcome.trim())

/** The text that a title asks for; undefined if it asks for another, or for more. */
export function textFor(title: string): Text | undefined {
  const bare = title.trim().replace(/[.。!！]$/, '')
  return isChinese(bare) ? chinese(bare) : english(bare)
}

/** Whether the words name one thing and ask for nothing: quoted, or nouns without verbs, joins or references. */
export function isNoun(text: string, mayBeFact = false): boolean {
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

/** Whether the characters name one thing and ask for nothing. */
export function isChineseNoun(text: string, mayBeFact = false): boolean {
  const bare = text.replaceAll(QUOTED, 'x')
  const isPlain = /^[\p{Script=Han}A-Za-z0-9 ]{1,16}$/u.test(bare)
  return isPlain && !CHINESE_ACTION.test(bare) && (mayBeFact || !CHINESE_FACT.test(bare))
}

const QUOTED = /“[^“”]+”|"[^"]+"/g
const PREPOSITION = /^(?:of|in|for|at|to|on|about|the|a|an|my|our|your)$/

interface Shape {
  /** Matches what follows the verb and its article; may capture `to` and `topic`. */
  readonly of: RegExp
  readonly topic?: RegExp
  readonly mayBeFact?: true
  /** Without knowledge this is only a draft, so it only satisfies a request for one. */
  readonly isDraft?: true
  /** Absent for a report on finished steps. */
  readonly write?: (topic: string, to: string) => string
}

const VERB = /^(?:write|draft|compose|prepare|make|create)\s+(?:me\s+|us\s+)?(?:(?:a|an|the|my|our|some)\s+)?/i
const ADJECTIVE = /^(?:short|brief|friendly|polite|formal|simple|general|rough|first|quick|little|final)\s+/i
const SAY = /^(?:say it|tell (?:me|us) the (?:results?|answers?)|summari[sz]e the (?:results|steps))$/i

function english(title: string): Text | undefined {
  if (SAY.test(title)) return reportAs('Report')
  const [verb] = VERB.exec(title) ?? []
  if (verb === undefined) return undefined
  const rest = title.slice(verb.length).replace(ADJECTIVE, '').replaceAll(/\s+/g, ' ')
  const shapes = /^draft\b/i.test(title) ? ENGLISH : ENGLISH.filter(({ isDraft }) => isDraft !== true)
  return fitting(shapes, rest, isNoun, 'Report')
}

const CHINESE_VERB =
  /^(?:请|帮我)?(?:写出|写|起草|草拟|撰写|拟定|制定|列出|列)(?:一下)?(?:[一这两三]?[份封首篇个张则条])?/

function chinese(title: string): Text | undefined {
  if (/^告诉我(?:结果|答案)$/.test(title)) return reportAs('报告')
  const [verb] = CHINESE_VERB.exec(title) ?? []
  return verb === undefined ? undefined : fitting(CHINESE, title.slice(verb.length), isChineseNoun, '报告')
}

function fitting(
  shapes: readonly Shape[],
  rest: string,
  isName: (text: string, mayBeFact?: boolean) => boolean,
  report: string,
): Text | undefined {
  const shape = shapes.find(({ of }) => of.test(rest))
  if (!shape) return undefined
  const { topic = '', to = '' } = shape.of.exec(rest)?.groups ?? {}
  const areNames = [topic, to].every(text => text === '' || isName(text, shape.mayBeFact))
  if (!areNames || shape.topic?.test(topic) === false) return undefined
  const { write } = shape
  return write ? { isReport: false, written: () => write(topic.replaceAll(/[“”"]/g, ''), to) } : reportAs(report)
}

const reportAs = (heading: string): Text => ({
  isReport: true,
  written: done => `${heading}\n${bullets(done.map(({ title, outcome }) => `${title}: ${outcome}`))}`,
})

const bullets = (items: readonly string[]): string => items.map(item => `- ${item}`).join('\n')

/** "my landlord" is addressed as "landlord". */
const bare = (name: string): string => name.replace(/^(?:the|a|an|my|our)\s+/i, '')

const listed =
  (heading: string, ...items: readonly string[]) =>
  (topic: string): string =>
    `${heading}${isChinese(heading) ? '：' : ': '}${bare(topic)}\n${bullets(items)}`

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const ENGLISH: readonly Shape[] = [
  {
    of: /^invitations?(?:\s+(?:to|for)\s+(?<topic>.+))?$/i,
    write: topic =>
      `You are invited${topic === '' ? '' : ` to ${/^(?:the|a|an|my|our)\s/i.test(topic) ? topic : `the ${topic}`}`}.\n\nWe would love to have you with us. Please tell us a week before whether you can come, and whom you bring.\n\nDate: …\nPlace: …`,
  },
  {
    of: /^(?:e-?mail|letter|message|note)(?:\s+to\s+(?<to>.+?))?\s+about\s+(?<topic>.+)$/i,
    write: (topic, to) =>
      `Subject: ${bare(topic)}\n\n${to === '' ? 'Hello' : `Dear ${bare(to)}`},\n\nI am writing to you about ${topic}. Could we find a time this week to talk about it? Please tell me what suits you.\n\nThank you, and best wishes`,
  },
  {
    of: /^(?:poem|haiku)(?:\s+(?:about|on)\s+(?<topic>.+))?$/i,
    mayBeFact: true,
    write: topic => `${capitalised(topic || 'autumn')}.\nA slow light moves on the wall.\nNothing to be said.`,
  },
  {
    of: /^title\s+for\s+(?<topic>.+)$/i,
    mayBeFact: true,
    write: topic => `“${capitalised(bare(topic))}”`,
  },
  {
    of: /^guest list template(?:\s+for\s+(?<topic>.+))?$/i,
    write: topic =>
      `Guest list${topic === '' ? '' : `: ${bare(topic)}`}\n\n| name | comes | brings | does not eat |\n| --- | --- | --- | --- |\n| … | yes / no | … | … |`,
  },
  {
    of: /^checklist\s+for\s+(?<topic>.+)$/i,
    write: listed(
      'Checklist',
      'the aim is written down in one sentence',
      'it is clear who does what, and by when',
      'what has to be there beforehand is there',
      'the costs are known and agreed',
      'somebody else has looked at it',
    ),
  },
  {
    of: /^shopping list\s+for\s+(?<topic>.+)$/i,
    topic: EVENT,
    write: listed('Shopping list', 'drinks', 'bread, cheese and fruit', 'a cake', 'candles', 'napkins and cups'),
  },
  {
    of: /^packing list\s+for\s+(?<topic>.+)$/i,
    topic: JOURNEY,
    write: listed('Packing list', 'papers and tickets', 'clothes', 'shoes to walk in', 'medicine', 'chargers'),
  },
  {
    of: /^(?:schedule|agenda|timetable)\s+for\s+(?<topic>.+)$/i,
    isDraft: true,
    write: listed(
      'Schedule',
      'first: get everything ready that is needed',
      'then: the largest part, while you are fresh',
      'after that: the rest',
      'last: look over it, and finish what is left',
    ),
  },
  {
    of: /^itinerary\s+for\s+(?<topic>.+)$/i,
    topic: JOURNEY,
    isDraft: true,
    write: listed(
      'Itinerary',
      'day 1: arrive, a walk, an early night',
      'day 2: the thing you came for',
      'day 3: free, then home',
    ),
  },
  {
    of: /^budget\s+for\s+(?<topic>.+)$/i,
    isDraft: true,
    write: listed('Budget', 'the place: …', 'food and travel: …', 'material and help: …', 'a tenth in reserve'),
  },
  {
    of: /^criteria\s+for\s+(?<topic>.+)$/i,
    isDraft: true,
    write: listed(
      'Criteria',
      'what it has to do',
      'what it costs, now and later',
      'who will use it',
      'how hard it is to change back',
    ),
  },
  {
    of: /^questions\s+about\s+(?<topic>.+)$/i,
    write: listed(
      'Questions',
      'What do I want it for?',
      'How much time and money do I have for it?',
      'Who has done it before, and would tell me?',
      'How can I tell that it works?',
    ),
  },
  {
    of: /^outline\s+for\s+(?<topic>.+)$/i,
    write: listed(
      'Outline',
      'what it is for',
      'what is there already',
      'the main part',
      'what can go wrong',
      'the end',
    ),
  },
  { of: /^(?:report|summary)(?:\s+(?:of|on)\s+(?:the\s+)?(?:results|steps))?$/i },
]

const FOR = String.raw`(?:关于)?(?<topic>.+?)的?`

const CHINESE: readonly Shape[] = [
  {
    of: new RegExp(`^(?:${FOR})?(?:邀请函|请柬)$`),
    write: topic =>
      `诚挚邀请您参加${topic || '我们的活动'}。请在一周前告诉我们您是否出席，以及同行的人数。\n\n时间：……\n地点：……`,
  },
  {
    of: /^(?:[给致](?<to>.{1,6}?)的)?关于(?<topic>.+)的(?:邮件|信|消息)$/,
    write: (topic, to) =>
      `主题：${topic}\n\n${to || '您'}好：\n\n我想和您谈谈${topic}。请告诉我本周您什么时候方便。\n\n谢谢，此致敬礼`,
  },
  {
    of: new RegExp(`^(?:${FOR})?(?:俳句|小?诗)$`),
    mayBeFact: true,
    write: topic => `${topic || '秋天'}\n一阵清风过小桥\n清晨慢慢来`,
  },
  { of: new RegExp(`^${FOR}标题$`), mayBeFact: true, write: topic => `《${topic}》` },
  {
    of: new RegExp(`^(?:${FOR})?宾客名单模板$`),
    write: topic =>
      `宾客名单${topic === '' ? '' : `：${topic}`}\n\n| 姓名 | 是否出席 | 带什么 | 忌口 |\n| --- | --- | --- | --- |\n| … | 是 / 否 | … | … |`,
  },
  {
    of: new RegExp(`^${FOR}检查清单$`),
    write: listed('检查清单', '目标用一句话写清楚', '谁来做、什么时候完成都已说定', '事先要准备的都已备好', '费用已知'),
  },
  {
    of: new RegExp(`^${FOR}购物清单$`),
    topic: CHINESE_EVENT,
    write: listed('购物清单', '饮料', '面包、奶酪和水果', '蛋糕', '蜡烛', '餐巾和杯子'),
  },
  {
    of: new RegExp(`^${FOR}行李清单$`),
    topic: CHINESE_JOURNEY,
    write: listed('行李清单', '证件和车票', '换洗衣服', '好走路的鞋', '常用药', '充电器'),
  },
  {
    of: new RegExp(`^${FOR}(?:日程|议程|时间表)草案$`),
    write: listed('日程', '先备好要用的东西', '再做最大的一块', '然后做完其余部分', '最后检查并收尾'),
  },
  {
    of: new RegExp(`^${FOR}行程草案$`),
    topic: CHINESE_JOURNEY,
    write: listed('行程', '第一天：到达，散步', '第二天：最想去的地方', '第三天：自由活动，返程'),
  },
  {
    of: new RegExp(`^${FOR}预算草案$`),
    write: listed('预算', '场地：……', '饮食和交通：……', '物料和人手：……', '留一成应付意外'),
  },
  {
    of: new RegExp(`^${FOR}标准$`),
    write: listed('标准', '必须做到什么', '现在和以后的费用', '给谁用', '换掉它有多难'),
  },
  {
    of: new RegExp(`^${FOR}问题$`),
    write: listed('问题', '我要用它做什么？', '我有多少时间和钱？', '谁做过，可以请教？', '怎样知道它有用？'),
  },
  {
    of: new RegExp(`^${FOR}(?:大纲|提纲)$`),
    write: listed('大纲', '目的', '现状', '主要内容', '可能的问题', '结尾'),
  },
  { of: /^(?:报告|总结)$/ },
]
