import { isChineseNoun } from './asked.ts'
import { withoutClauses } from './deeds.ts'
import { type GoalKind, peopleIn, quoted } from './goal-kind.ts'
import { CHINESE_ACTION, CHINESE_EVENT, CHINESE_JOURNEY } from './lexicon.ts'

const topicOf = (goal: string): string =>
  withoutClauses(goal)
    .replace(/^.*?(?:策划|计划|安排|组织|筹备|准备|举办|规划|学习|撰写|起草|写)/, '')
    .replace(/^(?:一下|一[场次个篇首份封]|[场次个篇首份封])/, '')
    .replace(/[。！？]+$/, '') || goal

const name = (topic: string): string => (isChineseNoun(topic) ? topic : quoted(topic))

/** Goals of planning end with the plan on paper; those of doing go on to what only a tool can do. */
const isPlanning = (goal: string): boolean => /策划|计划|规划|筹备|准备/.test(goal) && !CHINESE_ACTION.test(goal)

/** Texts about a topic, as titles. */
const drafts = (topic: string, ...forms: readonly string[]): string[] =>
  forms.map(form => (form === '问题' || form === '标准' ? `列出${topic}的${form}` : `写一份${topic}的${form}`))

/** The first that fits; the last fits all. */
export const chineseGoals: readonly GoalKind[] = [
  {
    of: /写.*(?:俳句|诗)/,
    plan: goal => {
      const [, about] = /关于(.+?)的/.exec(goal) ?? []
      const form = goal.includes('俳句') ? '俳句' : '诗'
      const on = about === undefined ? '' : `关于${name(about)}的`
      return [`写一份${form}的检查清单`, `写一首${on}${form}`, `写一个${on}${form}的标题`]
    },
  },
  {
    of: /^(?:写|起草|撰写|拟)/,
    plan: goal => {
      const topic = quoted(topicOf(goal))
      return [...drafts(topic, '问题', '大纲'), goal, `写一个${topic}的标题`, ...drafts(topic, '检查清单')]
    },
  },
  {
    of: /面试|考试|演讲|报告会|答辩|汇报/,
    plan: goal => {
      const topic = name(topicOf(goal))
      const own = /考试/.test(goal) ? ['学习计划', '大纲'] : ['大纲', '标准']
      return drafts(topic, '问题', ...own, '日程草案', '检查清单')
    },
  },
  {
    of: CHINESE_EVENT,
    plan: goal => {
      const people = peopleIn(goal)
      const topic = name(topicOf(goal))
      return [
        `写一份${topic}的宾客名单模板`,
        people === undefined ? `写一份${topic}的预算草案` : `按每人 100 元计算 ${people} 人的预算：${people} * 100`,
        `起草${topic}的邀请函`,
        ...(isPlanning(goal) ? drafts(topic, '日程草案', '购物清单') : ['预订场地', '发送邀请函']),
      ]
    },
  },
  {
    of: CHINESE_JOURNEY,
    plan: goal => {
      const topic = name(topicOf(goal))
      const texts = drafts(topic, '检查清单', '行程草案', '行李清单', '预算草案')
      return isPlanning(goal) ? [...drafts(topic, '问题'), ...texts] : [...texts, '预订交通和住宿']
    },
  },
  {
    of: /^(?:学|学习|练习)/,
    plan: goal => drafts(name(topicOf(goal)), '问题', '学习计划', '日程草案', '标准', '检查清单'),
  },
  {
    of: /翻译|本地化/,
    plan: goal => [
      ...drafts(quoted(withoutClauses(goal)), '问题', '标准', '大纲'),
      goal,
      ...drafts('译文', '检查清单'),
    ],
  },
  {
    of: /打扫|清理|清洁|整理|收拾|装修|粉刷|布置/,
    plan: goal => [
      ...drafts(quoted(withoutClauses(goal)), '问题', '标准', '日程草案'),
      goal,
      ...drafts(quoted(withoutClauses(goal)), '检查清单'),
    ],
  },
  {
    of: /搬家|搬到/,
    plan: goal => [...drafts('搬家', '检查清单', '预算草案', '日程草案'), '起草给房东的关于搬家的邮件', goal],
  },
  {
    // One deed.
    of: CHINESE_ACTION,
    plan: goal => [`写一份${quoted(withoutClauses(goal))}的检查清单`, goal, `检查结果：${goal}`],
  },
  {
    of: /\S/,
    plan: goal => {
      const topic = isPlanning(goal) ? name(topicOf(goal)) : quoted(withoutClauses(goal))
      const texts = drafts(topic, '问题', '检查清单', '日程草案')
      return isPlanning(goal) ? [...texts, ...drafts(topic, '预算草案', '标准')] : [...texts, goal, `检查结果：${goal}`]
    },
  },
]
