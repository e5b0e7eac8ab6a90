import { bareGoal, withoutClauses } from './deeds.ts'
import { ACTIONS, CHINESE_ACTION, CHINESE_EVENT, CHINESE_JOURNEY, EVENT, isChinese, JOURNEY } from './lexicon.ts'
import { isChineseNoun, isNoun } from './texts.ts'

interface GoalKind {
  readonly of: RegExp
  readonly plan: (goal: string) => string[]
}

/** Steps of a plan for a goal that names none itself, by the first kind that matches. The last kind matches all. */
export function planFor(goal: string): string[] {
  const [kinds, bare] = isChinese(goal) ? [CHINESE, goal] : [ENGLISH, bareGoal(goal)]
  return kinds.find(({ of }) => of.test(bare))?.plan(bare) ?? []
}

/** Quotes a topic that is more than a name, so that it asks for nothing as part of a title. */
const quoted = (text: string): string => `“${text.replaceAll(/[“”"]/g, '')}”`

const peopleIn = (goal: string): string | undefined =>
  /(\d{1,5})\s*(?:people|persons|guests|friends|kids|children|colleagues|个?人|位|名)/i.exec(goal)?.[1]

/** What the goal is about: "Plan a trip to Rome" is about "trip to Rome". */
function topicOf(goal: string): string {
  const bare = withoutClauses(goal)
    .replace(
      /^(?:please\s+)?[\p{L}]+(?:\s+(?:out|up|down))?\s+(?:me\s+|us\s+)?(?:(?:for|a|an|the|my|our|some)\s+)*/iu,
      '',
    )
    .replace(/[.!?]+$/, '')
  return bare === '' ? goal : bare
}

const the = (topic: string): string => (isNoun(topic) ? `${isOne(topic) ? 'the ' : ''}${topic}` : quoted(topic))

/** Whether a topic takes an article: "landing page for our product" does; "electric cars" and "CI" do not. */
function isOne(topic: string): boolean {
  const [head = ''] = topic.split(/\s+(?:for|of|in|at|to|on|about|near|around)\s/i)
  return !/[^su]s$/.test(head) && !/^[A-Z]/.test(head)
}

const deed = (goal: string): string => quoted(lower(withoutClauses(goal)))

/** Planning goals end with the plan on paper; others continue with what only a tool can do. */
const isPlanning = (goal: string): boolean =>
  /^(?:plan|prepare|outline|draft|design|think)\b/i.test(goal) &&
  !(goal.toLowerCase().match(/\p{L}+/gu) ?? []).some(word => ACTIONS.has(word))

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const drafts = (topic: string, ...forms: readonly string[]): string[] => forms.map(form => `Draft ${form} ${topic}`)

const QUESTIONS = 'questions about'
const OUTLINE = 'an outline for'
const CHECKLIST = 'a checklist for'
const SCHEDULE = 'a schedule for'
const BUDGET = 'a budget for'
const CRITERIA = 'criteria for'

const ENGLISH: readonly GoalKind[] = [
  {
    of: /^(?:write|draft|compose)\b/i,
    plan: goal => {
      const topic = the(topicOf(goal))
      return [...drafts(topic, QUESTIONS, OUTLINE), capitalised(goal), ...drafts(topic, 'a title for', CHECKLIST)]
    },
  },
  {
    // A test to sit, not a program's test.
    of: /\b(?:interview|exam|exams|presentation|talk|speech|lecture|pitch)\b|^(?:prepare|pass|plan|revise)\b.*\btest\b|^(?:learn|study|practi[cs]e|master)\s+(?!how\b|to\b)/i,
    plan: goal => drafts(the(topicOf(goal)), QUESTIONS, OUTLINE, CRITERIA, SCHEDULE, CHECKLIST),
  },
  {
    of: EVENT,
    plan: goal => {
      const topic = the(topicOf(goal).replace(/\s+(?:for|with)\s+\d.*$/i, ''))
      const people = peopleIn(goal)
      return [
        ...drafts(topic, 'a guest list template for'),
        ...(people === undefined
          ? drafts(topic, BUDGET)
          : [`Compute the budget for ${people} people at 15 each: ${people} * 15`]),
        `Write the invitation to ${topic}`,
        ...(isPlanning(goal)
          ? drafts(topic, SCHEDULE, 'a shopping list for')
          : ['Book the place', 'Send the invitations']),
      ]
    },
  },
  {
    of: JOURNEY,
    plan: goal => {
      const topic = the(topicOf(goal))
      const texts = drafts(topic, 'an itinerary for', BUDGET, 'a packing list for', CHECKLIST)
      return isPlanning(goal) ? [...drafts(topic, QUESTIONS), ...texts] : [...texts, 'Book the travel and the rooms']
    },
  },
  {
    // A single action.
    of: new RegExp(`^(?:${[...ACTIONS].join('|')}|call|order|book)\\b`, 'i'),
    plan: goal => [...drafts(deed(goal), CHECKLIST), capitalised(goal), `Check that it worked: ${lower(goal)}`],
  },
  {
    of: /\S/,
    plan: goal => {
      const topic = isPlanning(goal) ? the(topicOf(goal)) : deed(goal)
      return [
        ...drafts(topic, QUESTIONS, CHECKLIST, SCHEDULE),
        ...(isPlanning(goal)
          ? drafts(topic, BUDGET, CRITERIA)
          : [capitalised(goal), `Check that it worked: ${lower(goal)}`]),
      ]
    },
  },
]

const chineseTopic = (goal: string): string => {
  const topic = withoutClauses(goal)
    .replace(/^.*?(?:策划|计划|安排|组织|筹备|准备|举办|规划|学习|撰写|起草|写)/, '')
    .replace(/^(?:一下|一[场次个篇首份封]|[场次个篇首份封])/, '')
    .replace(/[。！？]+$/, '')
  const name = topic || goal
  return isChineseNoun(name) ? name : quoted(name)
}

const isChinesePlanning = (goal: string): boolean => /策划|计划|规划|筹备|准备/.test(goal) && !CHINESE_ACTION.test(goal)

const chineseDrafts = (topic: string, ...forms: readonly string[]): string[] =>
  forms.map(form => (form === '问题' || form === '标准' ? `列出${topic}的${form}` : `写一份${topic}的${form}`))

const CHINESE: readonly GoalKind[] = [
  {
    of: /^(?:写|起草|撰写|拟)/,
    plan: goal => {
      const topic = chineseTopic(goal)
      return [
        ...chineseDrafts(topic, '问题', '大纲'),
        goal,
        `写一个${topic}的标题`,
        ...chineseDrafts(topic, '检查清单'),
      ]
    },
  },
  {
    of: /面试|考试|演讲|报告会|答辩|汇报|^学|^练习/,
    plan: goal => chineseDrafts(chineseTopic(goal), '问题', '大纲', '标准', '日程草案', '检查清单'),
  },
  {
    of: CHINESE_EVENT,
    plan: goal => {
      const people = peopleIn(goal)
      const topic = chineseTopic(goal)
      return [
        ...chineseDrafts(topic, '宾客名单模板'),
        people === undefined ? `写一份${topic}的预算草案` : `按每人 100 元计算 ${people} 人的预算：${people} * 100`,
        `起草${topic}的邀请函`,
        ...(isChinesePlanning(goal) ? chineseDrafts(topic, '日程草案', '购物清单') : ['预订场地', '发送邀请函']),
      ]
    },
  },
  {
    of: CHINESE_JOURNEY,
    plan: goal => {
      const topic = chineseTopic(goal)
      const texts = chineseDrafts(topic, '检查清单', '行程草案', '行李清单', '预算草案')
      return isChinesePlanning(goal) ? [...chineseDrafts(topic, '问题'), ...texts] : [...texts, '预订交通和住宿']
    },
  },
  {
    // A single action.
    of: CHINESE_ACTION,
    plan: goal => [...chineseDrafts(quoted(withoutClauses(goal)), '检查清单'), goal, `检查结果：${goal}`],
  },
  {
    of: /\S/,
    plan: goal => {
      const topic = isChinesePlanning(goal) ? chineseTopic(goal) : quoted(withoutClauses(goal))
      const texts = chineseDrafts(topic, '问题', '检查清单', '日程草案')
      return isChinesePlanning(goal)
        ? [...texts, ...chineseDrafts(topic, '预算草案', '标准')]
        : [...texts, goal, `检查结果：${goal}`]
    },
  },
]
