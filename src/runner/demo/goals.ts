import { isChinese } from './language.ts'

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

const chineseTopicOf = (goal: string): string =>
  goal
    .replace(/^.*?(?:策划|计划|安排|组织|筹备|准备|举办|规划|学习|写|起草)/, '')
    .replace(/^(?:一下|一[场次个篇首份封]|[场次个篇首份封])/, '')
    .replace(/[。！？]+$/, '') || goal

const peopleIn = (goal: string): string | undefined =>
  /(\d{1,5})\s*(?:people|persons|guests|friends|kids|children|colleagues|个?人|位|名)/i.exec(goal)?.[1]

/** Goals of planning end with the plan on paper; those of doing go on to what only a tool can do. */
const isPlanning = (goal: string): boolean => /^(?:plan|prepare|outline|draft|design|think)\b/i.test(goal)

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** The first that fits; the last fits all. */
const ENGLISH: readonly Kind[] = [
  {
    of: /\b(?:party|birthday|wedding|picnic|barbecue|dinner|celebration|reunion|conference|workshop|meet-?up|event|concert)\b/i,
    plan: goal => {
      const topic = topicOf(goal).replace(/\s+(?:for|with)\s+\d.*$/i, '')
      const people = peopleIn(goal)
      const first = [
        `List what the ${topic} needs`,
        people === undefined
          ? `List the costs of the ${topic}`
          : `Work out the budget for ${people} people at 15 each: ${people} * 15`,
        `Draft the invitation to the ${topic}`,
      ]
      return isPlanning(goal)
        ? [...first, 'Write the schedule for the day', 'Write the shopping list']
        : [...first, 'Book the place', 'Send the invitations']
    },
  },
  {
    of: /\b(?:trip|travel|holiday|vacation|journey|weekend|visit|tour)\b/i,
    plan: goal => {
      const topic = topicOf(goal)
      return [
        `List what to decide about the ${topic}`,
        'Write the itinerary day by day',
        'Write the packing list',
        `List the costs of the ${topic}`,
        ...(isPlanning(goal) ? [] : ['Book the travel and the rooms']),
      ]
    },
  },
  {
    of: /^(?:write|compose)\b.*\bhaiku\b/i,
    plan: goal => {
      const [, about] = /\b(?:about|on|of)\s+(.+?)[.!]*$/i.exec(goal) ?? []
      const on = about === undefined ? '' : ` about ${about}`
      return [`List three images for a haiku${on}`, `Write the haiku${on}`, `Count the syllables of the haiku${on}`]
    },
  },
  {
    of: /^(?:write|draft|compose)\b/i,
    plan: goal => [
      `Outline the ${topicOf(goal)}`,
      `Draft the ${topicOf(goal)}`,
      `List what to check in the ${topicOf(goal)}`,
    ],
  },
  {
    of: /^(?:learn|study|practi[cs]e|master|get better at)\b/i,
    plan: goal => [
      `List what to learn first about ${topicOf(goal)}`,
      'Write a schedule for four weeks',
      `List five test questions about ${topicOf(goal)}`,
      `Outline a small project with ${topicOf(goal)}`,
    ],
  },
  {
    of: /^(?:choose|decide|pick|compare|find|research|investigate|evaluate)\b/i,
    plan: goal => [
      `List the criteria for the ${topicOf(goal)}`,
      `List the questions to ask about the ${topicOf(goal)}`,
      `Look up the facts about the ${topicOf(goal)}`,
      'Write the report',
    ],
  },
  {
    of: /^(?:build|develop|create|make|design|implement|launch|release|ship|publish|set up|start)\b/i,
    plan: goal => [
      `List what the ${topicOf(goal)} has to do`,
      `Outline the parts of the ${topicOf(goal)}`,
      `Write the checklist for the ${topicOf(goal)}`,
      capitalised(goal),
      `Draft the announcement of the ${topicOf(goal)}`,
    ],
  },
  {
    of: /\S/,
    plan: goal => [`List what it takes to ${lower(goal)}`, capitalised(goal), `Check that it worked: ${lower(goal)}`],
  },
]

const CHINESE: readonly Kind[] = [
  {
    of: /聚会|生日|婚礼|派对|晚会|活动|会议|年会|聚餐|野餐/,
    plan: goal => {
      const people = peopleIn(goal)
      const topic = chineseTopicOf(goal)
      return [
        `列出${topic}需要准备的东西`,
        people === undefined ? `列出${topic}的费用` : `按每人 100 元计算 ${people} 人的预算：${people} * 100`,
        '起草邀请函',
        '写出当天的日程',
        '写一份购物清单',
      ]
    },
  },
  {
    of: /旅行|旅游|出游|出差|度假/,
    plan: goal => [`列出${chineseTopicOf(goal)}要决定的事`, '写出每天的行程', '写一份行李清单', '列出费用'],
  },
  {
    of: /写.*(?:俳句|诗)/,
    plan: goal => {
      const [, about] = /关于(.+?)的/.exec(goal) ?? []
      const on = about === undefined ? '' : `关于${about}的`
      return [`列出${on}三个意象`, `写出这首${on}俳句`, '列出可以修改的地方']
    },
  },
  {
    of: /^(?:写|起草|撰写|拟)/,
    plan: goal => [`列出${chineseTopicOf(goal)}的大纲`, `起草${chineseTopicOf(goal)}`, '列出要检查的地方'],
  },
  {
    of: /^(?:学|学习|练习)/,
    plan: goal => [`列出${chineseTopicOf(goal)}要先学的内容`, '写出四周的日程', '列出五个自测问题'],
  },
  {
    of: /\S/,
    plan: goal => [`列出“${goal}”需要的东西`, goal, `检查结果：${goal}`],
  },
]

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
