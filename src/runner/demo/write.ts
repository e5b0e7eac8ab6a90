import { isChinese } from './language.ts'

/** A step that is done, and what came of it. */
export interface Done {
  readonly title: string
  readonly outcome: string
}

/** Whether a step asks for a text that the demo model can write itself. */
export const isWriting = (title: string): boolean =>
  isChinese(title)
    ? CHINESE_VERBS.test(title) && !/写入|代码|程序|脚本|测试用例/.test(title)
    : VERBS.test(title) && !BEYOND.test(title)

/** The text that a step asks for; undefined if it is to report on steps and none of them is done. */
export function write(title: string, done: readonly Done[]): string | undefined {
  const forms = isChinese(title) ? CHINESE : ENGLISH
  return forms.find(({ of }) => of.test(title))?.text(topicIn(title), done)
}

const VERBS =
  /^(?:write|draft|compose|list|outline|sketch|note|brainstorm|name|suggest|propose|describe|summari[sz]e|plan|count the syllables|(?:tell|show) (?:me|us)|say (?:it|so)|(?:make|prepare) (?:a|an|the) (?:\w+ )?(?:list|plan|outline|schedule|checklist|agenda|budget))\b/i
/** Texts that need more than a template, and letters that have to be sent. */
const BEYOND =
  /^write (?:to|back)\b|\b(?:code|scripts?|programs?|functions?|tests|software|patch|query|files?|database)\b/i
const CHINESE_VERBS = /^(?:告诉我|写|起草|草拟|撰写|拟定|列出|列一|概述|总结|制定|整理出)/

interface Form {
  readonly of: RegExp
  readonly text: (topic: string, done: readonly Done[]) => string | undefined
}

/** "Draft the invitation to the party" is about "the party"; empty if the step does not say. */
function topicIn(title: string): string {
  const [, topic] = /\babout\s+(.+)$/i.exec(title) ?? /\b(?:to|for|of|on|with)\s+(.+)$/i.exec(title) ?? []
  const [, ...chinese] = /关于(.+?)的|“(.+)”/.exec(title) ?? []
  return (topic ?? chinese.find(Boolean) ?? '').replace(/[.:]+$/, '')
}

const HAIKU: readonly (readonly [string, string, string])[] = [
  ['Leaves drift from the oak,', 'a slow gold on the dark pond.', 'Then the ripples rest.'],
  ['Rain on the tin roof,', 'the cat counts every drop twice.', 'Morning takes its time.'],
  ['Snow hides the old path.', 'One lamp at the far window', 'keeps the road for us.'],
]
const CHINESE_HAIKU: readonly (readonly [string, string, string])[] = [
  ['落叶满秋山', '一片金黄落池塘', '水静月又圆'],
  ['夜雨敲屋檐', '猫儿数着每一滴', '清晨慢慢来'],
]

/** The same one for the same topic. */
function haikuOn(topic: string, from: typeof HAIKU): readonly string[] {
  const place = Array.from(topic).reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0)
  return (/autumn|fall|leaves|秋/i.test(topic) ? from[0] : from[place % from.length]) ?? []
}

const bullets = (...items: readonly string[]): string => items.map(item => `- ${item}`).join('\n')

const titled = (topic: string): string => (topic === '' ? '' : `${topic}\n`)

const reportOf = (heading: string, done: readonly Done[]): string | undefined =>
  done.length === 0 ? undefined : `${heading}\n${bullets(...done.map(({ title, outcome }) => `${title}: ${outcome}`))}`

/** The first that fits; the last fits all. */
const ENGLISH: readonly Form[] = [
  {
    of: /^(?:outline|sketch|plan)\b|\b(?:outline|structure|parts)\b/i,
    text: topic =>
      `${titled(topic)}1. What it is for\n2. What is there already\n3. The main part, in three steps\n4. What can go wrong\n5. How it ends`,
  },
  {
    of: /\bcheck(?:list)?\b/i,
    text: () =>
      bullets('names and numbers are right', 'nothing is missing', 'somebody else has read it', 'it can be undone'),
  },
  {
    of: /\bsyllables\b/i,
    text: topic =>
      haikuOn(topic, HAIKU)
        .map((line, place) => `${[5, 7, 5][place]}: ${line}`)
        .join('\n'),
  },
  {
    of: /\bimages\b/i,
    text: () => bullets('something that moves slowly', 'something that is lit', 'something that is still'),
  },
  { of: /\bhaiku\b/i, text: topic => haikuOn(topic, HAIKU).join('\n') },
  {
    of: /\b(?:poem|verse|limerick|rhyme)\b/i,
    text: () =>
      'We wrote it down, we put it last,\nwe ticked the lines, the day went fast.\nAnd what was left when all was through\nwas one short line: begin anew.',
  },
  {
    of: /\binvitation\b/i,
    text: topic =>
      `You are invited${topic === '' ? '' : ` to ${topic}`}.\n\nWe would love to have you with us. Please tell us a week before whether you can come, and whom you bring.\n\nDate: …\nPlace: …`,
  },
  {
    of: /\b(?:announcement|e-?mail|message|letter|reply|note|post)\b/i,
    text: topic =>
      `Subject: ${topic || '…'}\n\nHello,\n\nin short: what this is about, why it matters to you, and what I would ask of you.\n\nPlease tell me by the end of the week what you think.\n\nBest wishes`,
  },
  {
    of: /\bshopping list\b/i,
    text: () =>
      bullets('drinks, with and without bubbles', 'bread, cheese and fruit', 'a cake', 'candles', 'napkins and cups'),
  },
  {
    of: /\bpacking list\b/i,
    text: () =>
      bullets('papers and tickets', 'clothes for warm and for wet days', 'shoes to walk in', 'medicine', 'chargers'),
  },
  {
    of: /\bfour weeks\b/i,
    text: () =>
      bullets('week 1: the basics', 'week 2: examples of others', 'week 3: exercises', 'week 4: something of your own'),
  },
  {
    of: /\b(?:itinerary|day by day)\b/i,
    text: () =>
      bullets('day 1: arrive, a walk, an early night', 'day 2: the thing you came for', 'day 3: free, then home'),
  },
  {
    of: /\b(?:schedule|agenda|timetable|programme|program|timeline)\b/i,
    text: () =>
      bullets(
        '14:00 set up',
        '15:00 welcome',
        '15:30 the main part',
        '17:30 something to eat',
        '19:00 end, clear up together',
      ),
  },
  {
    of: /\b(?:budget|costs?)\b/i,
    text: () =>
      bullets('the place', 'food and drink', 'travel', 'material', 'a tenth of it all for what nobody thought of'),
  },
  {
    of: /\bquestions?\b/i,
    text: topic =>
      bullets(
        `What is ${topic || 'it'} good for?`,
        'What comes first?',
        'What goes wrong most often?',
        'How can one tell that it works?',
        'What would you explain to a friend?',
      ),
  },
  {
    of: /\b(?:report|summary|minutes|findings)\b|^(?:summari[sz]e|tell|show|say)\b/i,
    text: (_, done) => reportOf('Report', done),
  },
  {
    of: /\bcriteria\b/i,
    text: () =>
      bullets('what it has to do', 'what it costs, now and later', 'who will use it', 'how hard it is to change back'),
  },
  {
    of: /\bneeds\b/i,
    text: () =>
      bullets(
        'a date and a time',
        'a place with enough room',
        'food and drink',
        'music or a game',
        'somebody who welcomes the guests',
      ),
  },
  {
    of: /^(?:list|name|brainstorm|suggest|propose)\b/i,
    text: topic =>
      bullets(
        `the aim${topic === '' ? ', in one sentence' : `: ${topic}`}`,
        'who does it, and by when',
        'the tools, places and papers that it needs',
        'what it may cost',
        'how to tell that it is done',
      ),
  },
  {
    of: /\S/,
    text: topic =>
      `${titled(topic)}First, what it is about and for whom. Then the three things that matter most, in order. Last, what happens next.`,
  },
]

const CHINESE: readonly Form[] = [
  { of: /意象/, text: () => bullets('慢慢移动的东西', '被灯照亮的东西', '静止的东西') },
  { of: /俳句|诗/, text: topic => haikuOn(topic, CHINESE_HAIKU).join('\n') },
  {
    of: /邀请函|请柬/,
    text: () => '诚挚邀请您参加我们的活动。请在一周前告诉我们您是否出席，以及同行的人数。\n\n时间：……\n地点：……',
  },
  {
    of: /邮件|信|消息|通知|公告/,
    text: topic =>
      `主题：${topic || '……'}\n\n您好：\n\n简单说明这件事是什么、为什么与您有关，以及希望您做什么。请在本周内回复。\n\n此致敬礼`,
  },
  { of: /购物清单/, text: () => bullets('饮料', '面包、奶酪和水果', '蛋糕', '蜡烛', '餐巾和杯子') },
  { of: /行李清单/, text: () => bullets('证件和车票', '换洗衣服', '好走路的鞋', '常用药', '充电器') },
  { of: /四周/, text: () => bullets('第一周：基础', '第二周：看别人的例子', '第三周：练习', '第四周：自己的作品') },
  { of: /行程/, text: () => bullets('第一天：到达，散步', '第二天：最想去的地方', '第三天：自由活动，返程') },
  {
    of: /日程|议程|时间表/,
    text: () => bullets('14:00 布置', '15:00 迎接', '15:30 主要内容', '17:30 用餐', '19:00 结束，一起收拾'),
  },
  { of: /预算|费用/, text: () => bullets('场地', '饮食', '交通', '物料', '留一成应付意外') },
  {
    of: /问题/,
    text: () => bullets('它有什么用？', '先学什么？', '最容易错在哪里？', '怎样知道学会了？', '怎样讲给朋友听？'),
  },
  { of: /报告|总结|^告诉我/, text: (_, done) => reportOf('报告', done) },
  { of: /检查|修改/, text: () => bullets('名字和数字正确', '没有遗漏', '请别人读过', '可以撤回') },
  {
    of: /大纲|提纲|方案|计划/,
    text: topic => `${titled(topic)}1. 目的\n2. 现状\n3. 主要内容，分三步\n4. 可能的问题\n5. 结尾`,
  },
  {
    of: /(?:聚会|生日|婚礼|派对|晚会|活动).*(?:需要|准备)/,
    text: () => bullets('日期和时间', '足够大的场地', '饮食', '音乐或游戏', '迎接客人的人'),
  },
  {
    of: /需要|准备/,
    text: () => bullets('目标，用一句话说清', '谁来做，什么时候完成', '事先要准备好的东西', '大概的费用', '怎样算完成'),
  },
  {
    of: /^列/,
    text: () => bullets('目标', '负责人和期限', '先决条件', '费用', '完成的标准'),
  },
  { of: /\S/, text: topic => `${titled(topic)}先写清楚是什么、给谁看；再写最重要的三点；最后写下一步。` },
]
