import { isChineseNoun, isNoun } from './asked.ts'
import { isChinese } from './language.ts'
import { ACTIONS, CHINESE_ACTION, CHINESE_EVENT, CHINESE_JOURNEY, EVENT, JOURNEY } from './lexicon.ts'

/** The steps of a plan for a goal that names none itself. */
export function planFor(goal: string): string[] {
  const kinds = isChinese(goal) ? CHINESE : ENGLISH
  const kind = kinds.find(({ of }) => of.test(goal))
  return kind ? kind.plan(goal) : []
}

interface Kind {
  readonly of: RegExp
  readonly plan: (goal: string) => string[]
}

/** What the goal is about: "Plan a trip to Rome" is about "trip to Rome". */
function topicOf(goal: string): string {
  const bare = goal
    .replace(/^(?:please\s+)?[\p{L}]+(?:\s+(?:out|up|down))?\s+(?:me\s+|us\s+)?(?:(?:a|an|the|my|our|some)\s+)?/iu, '')
    .replace(/[.!?]+$/, '')
  return bare === '' ? goal : bare
}

/** A topic as part of a title: in quotes if it is more than a name, so that it asks for nothing. */
const the = (topic: string): string => (isNoun(topic) ? `the ${topic}` : quoted(topic))
const name = (topic: string): string => (isNoun(topic) ? topic : quoted(topic))
const quoted = (text: string): string => `“${text.replaceAll(/[“”"]/g, '')}”`

const chineseTopicOf = (goal: string): string =>
  goal
    .replace(/^.*?(?:策划|计划|安排|组织|筹备|准备|举办|规划|学习|撰写|起草|写)/, '')
    .replace(/^(?:一下|一[场次个篇首份封]|[场次个篇首份封])/, '')
    .replace(/[。！？]+$/, '') || goal

const chineseName = (topic: string): string => (isChineseNoun(topic) ? topic : quoted(topic))

const peopleIn = (goal: string): string | undefined =>
  /(\d{1,5})\s*(?:people|persons|guests|friends|kids|children|colleagues|个?人|位|名)/i.exec(goal)?.[1]

/** Goals of planning end with the plan on paper; those of doing go on to what only a tool can do. */
const isPlanning = (goal: string): boolean =>
  /^(?:plan|prepare|outline|draft|design|think)\b/i.test(goal) && !hasAction(goal)

const isChinesePlanning = (goal: string): boolean => /策划|计划|规划|筹备|准备/.test(goal) && !CHINESE_ACTION.test(goal)

const hasAction = (goal: string): boolean =>
  (goal.toLowerCase().match(/\p{L}+/gu) ?? []).some(word => ACTIONS.has(word))

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** The first that fits; the last fits all. */
const ENGLISH: readonly Kind[] = [
  {
    of: /^(?:write|compose)\b.*\bhaiku\b/i,
    plan: goal => {
      const [, about] = /\bhaiku\s+(?:about|on|of)\s+(.+?)[.!]*$/i.exec(goal) ?? []
      if (about === undefined || hasAction(about))
        return ['Write the checklist for a haiku', capitalised(goal), 'Draft a title for the haiku']
      const on = `about ${name(about)}`
      return ['Write the checklist for a haiku', `Write the haiku ${on}`, `Draft a title for the haiku ${on}`]
    },
  },
  {
    of: /^(?:write|draft|compose)\b/i,
    plan: goal => [
      `Draft an outline for ${the(topicOf(goal))}`,
      capitalised(goal),
      `Draft a checklist for ${the(topicOf(goal))}`,
    ],
  },
  {
    of: EVENT,
    plan: goal => {
      const topic = the(topicOf(goal).replace(/\s+(?:for|with)\s+\d.*$/i, ''))
      const people = peopleIn(goal)
      const first = [
        `Draft a guest list template for ${topic}`,
        people === undefined
          ? `Draft a budget for ${topic}`
          : `Compute the budget for ${people} people at 15 each: ${people} * 15`,
        `Write the invitation to ${topic}`,
      ]
      return isPlanning(goal)
        ? [...first, `Draft a schedule for ${topic}`, `Draft a shopping list for ${topic}`]
        : [...first, 'Book the place', 'Send the invitations']
    },
  },
  {
    of: JOURNEY,
    plan: goal => {
      const topic = the(topicOf(goal))
      return [
        `Draft a checklist for ${topic}`,
        `Draft an itinerary for ${topic}`,
        `Draft a packing list for ${topic}`,
        `Draft a budget for ${topic}`,
        ...(isPlanning(goal) ? [] : ['Book the travel and the rooms']),
      ]
    },
  },
  {
    of: /^(?:learn|study|practi[cs]e|master|get better at)\b/i,
    plan: goal => {
      const topic = name(topicOf(goal))
      return [
        `Draft a study plan for ${topic}`,
        `Draft questions about ${topic}`,
        `Draft a checklist for learning ${topic}`,
      ]
    },
  },
  {
    of: /^(?:choose|decide|pick|compare|find|research|investigate|evaluate)\b/i,
    plan: goal => {
      const topic = the(topicOf(goal))
      return [
        `Draft criteria for ${topic}`,
        `Draft questions about ${topic}`,
        `Look up the facts about ${topic}`,
        'Write the report',
      ]
    },
  },
  {
    of: /^(?:build|develop|create|make|design|implement|launch|release|ship|publish|set up|start)\b/i,
    plan: goal => {
      const topic = the(topicOf(goal))
      return [
        `Draft an outline for ${topic}`,
        `Draft a checklist for ${topic}`,
        `Draft the announcement of ${topic}`,
        capitalised(goal),
      ]
    },
  },
  {
    of: /\S/,
    plan: goal => [
      `Draft a checklist for ${quoted(lower(goal))}`,
      capitalised(goal),
      `Check that it worked: ${lower(goal)}`,
    ],
  },
]

const CHINESE: readonly Kind[] = [
  {
    of: /写.*(?:俳句|诗)/,
    plan: goal => {
      const [, about] = /关于(.+?)的/.exec(goal) ?? []
      const form = goal.includes('俳句') ? '俳句' : '诗'
      const on = about === undefined ? '' : `关于${chineseName(about)}的`
      return [`写一份${form}的检查清单`, `写一首${on}${form}`, `写一个${on}${form}的标题`]
    },
  },
  {
    of: /^(?:写|起草|撰写|拟)/,
    plan: goal => {
      const topic = quoted(chineseTopicOf(goal))
      return [`写一份${topic}的大纲`, goal, `写一份${topic}的检查清单`]
    },
  },
  {
    of: CHINESE_EVENT,
    plan: goal => {
      const people = peopleIn(goal)
      const topic = chineseName(chineseTopicOf(goal))
      return [
        `写一份${topic}的宾客名单模板`,
        people === undefined ? `写一份${topic}的预算草案` : `按每人 100 元计算 ${people} 人的预算：${people} * 100`,
        `起草${topic}的邀请函`,
        ...(isChinesePlanning(goal)
          ? [`写一份${topic}的日程草案`, `写一份${topic}的购物清单`]
          : ['预订场地', '发送邀请函']),
      ]
    },
  },
  {
    of: CHINESE_JOURNEY,
    plan: goal => {
      const topic = chineseName(chineseTopicOf(goal))
      const drafts = [`检查清单`, `行程草案`, `行李清单`, `预算草案`].map(form => `写一份${topic}的${form}`)
      return isChinesePlanning(goal) ? drafts : [...drafts, '预订交通和住宿']
    },
  },
  {
    of: /^(?:学|学习|练习)/,
    plan: goal => {
      const topic = chineseName(chineseTopicOf(goal))
      return [`学习计划`, `问题`, `检查清单`].map(form => `写一份${topic}的${form}`)
    },
  },
  {
    of: /\S/,
    plan: goal => [`写一份${quoted(goal)}的检查清单`, goal, `检查结果：${goal}`],
  },
]

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
