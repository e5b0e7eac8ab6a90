import type { Asked, Form } from './asked.ts'
import { chineseHaikuOn, haikuOn } from './haiku.ts'
import { isChinese } from './language.ts'
import { CHINESE_EVENT, CHINESE_JOURNEY, EVENT, JOURNEY } from './lexicon.ts'

/** A step that is done, and what came of it. */
export interface Done {
  readonly title: string
  readonly outcome: string
}

/** The text that a step asks for; undefined if it cannot be written. */
export function write(title: string, { form, topic, to }: Asked, done: readonly Done[]): string | undefined {
  const texts = isChinese(title) ? CHINESE : ENGLISH
  return texts[form](topic, to, done)
}

type Writer = (topic: string, to: string, done: readonly Done[]) => string | undefined

const bullets = (...items: readonly string[]): string => items.map(item => `- ${item}`).join('\n')

const headed = (heading: string, topic: string, ...items: readonly string[]): string =>
  `${heading}${isChinese(heading) ? '：' : ': '}${bare(topic)}\n${bullets(...items)}`

/** "my landlord" is addressed as "landlord". */
const bare = (name: string): string => name.replace(/^(?:the|a|an|my|our)\s+/i, '')

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const reportOf = (heading: string, done: readonly Done[]): string | undefined =>
  done.length === 0 ? undefined : `${heading}\n${bullets(...done.map(({ title, outcome }) => `${title}: ${outcome}`))}`

const PLAN = [
  'the aim is written down in one sentence',
  'it is clear who does what, and by when',
  'what has to be there beforehand is there',
  'the costs are known and agreed',
  'somebody else has looked at it',
]
const VERSE = ['each line has its number of syllables', 'one picture, not three', 'no word is there twice without need']

const ENGLISH: Readonly<Record<Form, Writer>> = {
  invitation: topic =>
    `You are invited${topic === '' ? '' : ` to ${/^(?:the|a|an|my|our)\s/i.test(topic) ? topic : `the ${topic}`}`}.\n\nWe would love to have you with us. Please tell us a week before whether you can come, and whom you bring.\n\nDate: …\nPlace: …`,
  mail: (topic, to) =>
    `Subject: ${bare(topic)}\n\n${to === '' ? 'Hello' : `Dear ${bare(to)}`},\n\nI am writing to you about ${topic}. Could we find a time this week to talk about it? Please tell me what suits you.\n\nThank you, and best wishes`,
  announcement: topic =>
    `Announcement: ${bare(topic)}\n\nWe are glad to announce ${topic}. Questions and ideas are welcome: please reply to this message.\n\nDate: …`,
  haiku: topic => haikuOn(topic),
  poem: topic =>
    `A thought of ${topic || 'spring'} came in with the day,\nsat down at the table and wanted to stay.\nWe poured it some coffee, we gave it a chair,\nand when we looked up it was everywhere.`,
  title: topic => `“${capitalised(bare(topic))}”`,
  guests: topic =>
    `Guest list${topic === '' ? '' : `: ${bare(topic)}`}\n\n| name | comes | brings | does not eat |\n| --- | --- | --- | --- |\n| … | yes / no | … | … |`,
  checklist: topic => headed('Checklist', topic, ...(/^(?:a |the )?(?:haiku|poem)\b/i.test(topic) ? VERSE : PLAN)),
  shopping: topic =>
    headed(
      'Shopping list',
      topic,
      'drinks, with and without bubbles',
      'bread, cheese and fruit',
      'a cake',
      'candles',
      'napkins and cups',
    ),
  packing: topic =>
    headed(
      'Packing list',
      topic,
      'papers and tickets',
      'clothes for warm and for wet days',
      'shoes to walk in',
      'medicine',
      'chargers',
    ),
  schedule: topic =>
    headed(
      'Schedule',
      topic,
      ...(EVENT.test(topic)
        ? [
            '14:00 set up',
            '15:00 welcome',
            '15:30 the main part',
            '17:30 something to eat',
            '19:00 end, clear up together',
          ]
        : [
            'first day: get everything ready that is needed',
            'second day: the largest part, while you are fresh',
            'third day: the rest',
            'last day: look over it, and finish what is left',
          ]),
    ),
  itinerary: topic =>
    headed(
      'Itinerary',
      topic,
      'day 1: arrive, a walk, an early night',
      'day 2: the thing you came for',
      'day 3: free, then home',
    ),
  study: topic =>
    headed(
      'Study plan',
      topic,
      'week 1: the basics',
      'week 2: examples of others',
      'week 3: exercises',
      'week 4: something of your own',
    ),
  budget: topic =>
    headed(
      'Budget',
      topic,
      ...(EVENT.test(topic) || JOURNEY.test(topic)
        ? ['the place: …', 'food and drink: …', 'travel: …']
        : ['tools: …', 'help from others: …']),
      'material: …',
      'a tenth of it all for what nobody thought of',
    ),
  criteria: topic =>
    headed(
      'Criteria',
      topic,
      'what it has to do',
      'what it costs, now and later',
      'who will use it',
      'how hard it is to change back',
    ),
  questions: topic =>
    headed(
      'Questions',
      topic,
      'What do I want it for?',
      'How much time and money do I have for it?',
      'Who has done it before, and would tell me?',
      'How can I tell that it works?',
    ),
  outline: topic =>
    `Outline: ${bare(topic)}\n1. What it is for\n2. What is there already\n3. The main part, in three steps\n4. What can go wrong\n5. How it ends`,
  report: (_topic, _to, done) => reportOf('Report', done),
}

const CHINESE_PLAN = [
  '目标用一句话写清楚',
  '谁来做、什么时候完成都已说定',
  '事先要准备的都已备好',
  '费用已知并已同意',
  '请别人看过',
]
const CHINESE_VERSE = ['每一行的字数都对', '只写一个画面', '没有多余的字']

const CHINESE: Readonly<Record<Form, Writer>> = {
  invitation: topic =>
    `诚挚邀请您参加${topic || '我们的活动'}。请在一周前告诉我们您是否出席，以及同行的人数。\n\n时间：……\n地点：……`,
  mail: (topic, to) =>
    `主题：${topic}\n\n${to || '您'}好：\n\n我想和您谈谈${topic}。请告诉我本周您什么时候方便。\n\n谢谢，此致敬礼`,
  announcement: topic => `公告：${topic}\n\n我们很高兴地宣布${topic}。如有问题或建议，请回复。\n\n时间：……`,
  haiku: topic => chineseHaikuOn(topic),
  poem: topic => `清晨想起${topic || '春天'}，\n推门坐在小桌前。\n一杯热茶慢慢饮，\n抬头已是满人间。`,
  title: topic => `《${topic}》`,
  guests: topic =>
    `宾客名单${topic === '' ? '' : `：${topic}`}\n\n| 姓名 | 是否出席 | 带什么 | 忌口 |\n| --- | --- | --- | --- |\n| … | 是 / 否 | … | … |`,
  checklist: topic => headed('检查清单', topic, ...(/^(?:俳句|诗)$/.test(topic) ? CHINESE_VERSE : CHINESE_PLAN)),
  shopping: topic => headed('购物清单', topic, '饮料', '面包、奶酪和水果', '蛋糕', '蜡烛', '餐巾和杯子'),
  packing: topic => headed('行李清单', topic, '证件和车票', '换洗衣服', '好走路的鞋', '常用药', '充电器'),
  schedule: topic =>
    headed(
      '日程',
      topic,
      ...(CHINESE_EVENT.test(topic)
        ? ['14:00 布置', '15:00 迎接', '15:30 主要内容', '17:30 用餐', '19:00 结束，一起收拾']
        : ['第一天：备好要用的东西', '第二天：先做最大的一块', '第三天：做完其余部分', '最后一天：检查并收尾']),
    ),
  itinerary: topic => headed('行程', topic, '第一天：到达，散步', '第二天：最想去的地方', '第三天：自由活动，返程'),
  study: topic =>
    headed('学习计划', topic, '第一周：基础', '第二周：看别人的例子', '第三周：练习', '第四周：自己的作品'),
  budget: topic =>
    headed(
      '预算',
      topic,
      ...(CHINESE_EVENT.test(topic) || CHINESE_JOURNEY.test(topic)
        ? ['场地：……', '饮食：……', '交通：……']
        : ['工具：……', '请人帮忙：……']),
      '物料：……',
      '留一成应付意外',
    ),
  criteria: topic => headed('标准', topic, '必须做到什么', '现在和以后的费用', '给谁用', '换掉它有多难'),
  questions: topic =>
    headed('问题', topic, '我要用它做什么？', '我有多少时间和钱？', '谁做过，可以请教？', '怎样知道它有用？'),
  outline: topic => `大纲：${topic}\n1. 目的\n2. 现状\n3. 主要内容，分三步\n4. 可能的问题\n5. 结尾`,
  report: (_topic, _to, done) => reportOf('报告', done),
}
