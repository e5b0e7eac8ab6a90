import { ACTIONS, isChinese, words } from './lexicon.ts'

/** Whether part of a sentence asks for an action: "order a cake" does; "with candles" and "fresh eggs" do not. */
export const isDeed = (part: string): boolean => (isChinese(part) ? isChineseDeed(part) : isEnglishDeed(part))

/** Whether part of a sentence describes an action, judged by its first or last word. */
export const isClause = (part: string): boolean =>
  isChinese(part) ? CHINESE_CLAUSE.test(part) : CLAUSE.test(part) || CLAUSE_END.test(part) || isGerund(part)

/** Whether a sentence states something instead of asking for it: "Budget is tight". */
export function isRemark(sentence: string): boolean {
  const bare = sentence.replace(/^[^:：]{3,80}[:：]\s*(?=\S)/, '')
  if (bare.split(/[,，]\s*|\s+then\s+/i).some(isDeed)) return false
  return isClause(bare) || (!isChinese(bare) && TELLS.test(bare))
}

/** A goal without the clauses after it. Lists of things stay: "Learn HTML, CSS and Java". */
export function withoutClauses(goal: string): string {
  if (isChinese(goal)) return goal.replace(/[，；].*$/, '')
  const [core = '', ...parts] = goal.split(/,\s+/)
  const end = parts.findIndex(isClause)
  return [core, ...(end < 0 ? parts : parts.slice(0, end))].join(', ')
}

/** Phrases before the goal itself. */
const ASKING =
  /^(?:please\s+|let[’']s\s+|(?:can|could|would) you (?:please\s+)?|help (?:me|us)(?: to)?\s+|(?:i|we)(?:\s+(?:want|need|have|would like|plan|hope)|[’']d like) to\s+|(?:start|begin|try) to\s+)+(?=\p{L})/iu

/** Turns "I want to run a marathon" into "Run a marathon". */
export const bareGoal = (goal: string): string => {
  const bare = goal.replace(ASKING, '')
  return bare === goal ? goal : bare.charAt(0).toUpperCase() + bare.slice(1)
}

function isEnglishDeed(part: string): boolean {
  const bare = bareGoal(part.trim()).replace(/^\p{L}+ly\s+/iu, '')
  const [first = '', second = ''] = bare.toLowerCase().split(/\s+/)
  if (!/^\p{L}[\p{L}-]+$/u.test(first) || isClause(bare) || FINITE.test(second)) return false
  // "Use HTML" describes how; "use the key" is an action.
  return (VERBS.has(first) && first !== 'use') || ACTIONS.has(first) || OBJECT.test(second)
}

const isGerund = (part: string): boolean => /^\s*(?!bring|swing|spring)\p{L}{2,}ing\b/iu.test(part)

const OBJECT = /^(?:a|an|the|my|our|your|his|her|their|its|this|that|these|those|it|them|him|me|us|up|out|down)$/
const FINITE = /^(?:is|are|was|were|has|had|will|would|can|cannot|could|should|must|may|might)$/
/** A subject with a verb that is not an imperative. */
const TELLS =
  /^(?:\S+\s+){1,4}?(?:is|are|was|were|isn[’']t|aren[’']t|has|have|had|will|won[’']t|can|can[’']t|cannot|could|should|must|may|might|needs?|wants?|likes?|loves?|hates?|turns?|costs?)\b/i

/** Words that begin the description of an action. */
const CLAUSE =
  /^\s*(?:[\d€$£]|(?:about|after|all|an?|approximately|around|as|at|avoid|be|because|before|between|both|budget|but|by|cheap|do(?:n[’']t| not)|during|each|either|ensure|especially|even|every|except|for|from|he|hers?|his|how|i(?!\s+(?:want|need|have|plan|hope|would like)\s+to\b)|ideally|if|in|inside|into|it|its|just|keep (?:it|things|costs)|like|make (?:sure|it)|max(?:imum)?|maybe|min(?:imum)?|mostly|my|near|next|no|none|not|of|on|one|only|or|otherwise|our|outside|over|per|perhaps|plus|possibly|preferably|rather|she|since|so|some|such|than|that|the|their|there|these|they|this|those|three|through|to|together|two|under|unless|until|up to|very|via|we(?!\s+(?:want|need|have|plan|hope|would like)\s+to\b)|what|when|where|whether|which|while|whom?|whose|why|with|within|without|you|your)\b)/i

const CLAUSE_END = /\s(?:included|allowed|welcome|preferred|required|permitting)\W*$/i

/** Verbs that begin steps and goals where the words after them do not tell. */
const VERBS = words(`
  accept add adjust agree align analyse analyze announce answer apply approve archive ask assemble assess assign
  attach audit automate back backup bake become benchmark block boil book boost brainstorm brew brief bring brush
  build buy calculate call celebrate change charge check chop circulate clean clear close code collect combine comment
  compare compile compose compute configure confirm connect contact convert cook copy count create cut debug decide
  declutter decorate define delegate deploy describe design determine develop dig discuss do document double-check
  draft draw drink drive drop drop-off dry dust earn eat edit eliminate empty enable enter estimate evaluate examine
  exercise expand explain explore export extract feed file fill film find finish fix fold follow format fry gain
  gather generate get give go greet grow hand hang harvest help hide highlight hire hold host identify implement
  import improve increase inform insert inspect install integrate interview introduce inventory invest investigate
  iron issue join keep label launch lay lead learn list load lock log look lose make manage mark master measure
  meditate meet mend mention merge migrate mix modernize monitor mop mount move mow name negotiate note number open
  optimize order organise organize outline pack paint park pay peel pick pitch place plan plant play polish post pour
  practice practise prepare present preview print program proofread propose provide pull put query question quit rank
  read rearrange reboot rebuild record recruit recycle redecorate reduce refactor refresh register rehearse release
  relocate remind remove rename renew renovate rent repair replace reply report request research reset resolve respond
  restart restore return review revise revisit rewrite rinse roast run save say scan schedule score scrub search
  select sell send separate serve set sew share ship show sing sketch skip sleep solve sort speed split stir stop
  store streamline stretch study style subscribe suggest summarise summarize support sweep swim switch take talk teach
  tell test text think throw tidy tie track train transcribe translate travel trim try turn type understand unpack
  update upgrade upload use vacuum validate verify visit vote wait walk warn wash watch water weigh win wipe work wrap
  write
`)

const isChineseDeed = (part: string): boolean => !CHINESE_CLAUSE.test(part) && CHINESE_DEED.test(part)

/** Beginnings of a step, perhaps after its recipient or purpose. */
const CHINESE_DEED =
  /^(?:请你?|帮我|首先|其次|然后|接着|最后|先|再|并且?|也|我们?(?:想要?|要|需要)|[\s：])*(?:把|将|(?:给|为|向|跟|和|对|替)[^，。]{1,12}?)?(?:写|起草|撰写|拟|列|制定|计划|策划|规划|安排|组织|筹备|准备|举办|邀请|通知|联系|发[送给出布邮]|发(?!票)|寄|付|支付|转账|买|购买|采购|订|预订|订购|租|卖|打(?!折)|检查|检验|测试|运行|部署|安装|配置|修|修复|修改|更新|升级|改(?!天)|删除|清理|清洁|整理|收拾|打扫|装饰|布置|做|制作|建|搭建|创建|开发|设计|实现|翻译|总结|汇总|整合|分析|研究|调查|比较|计算|统计|查|搜索|收集|找|选(?!项)|选择|确定|确认|决定|讨论|学(?!生)|学习|练习|阅读|读|看(?!起来)|复习|提交|上传|下载|备份|导出|导入|迁移|合并|发布|公布|拍|录|画|洗|煮|烤|炒|切|喂|浇|倒|搬|装(?!修费)|取|拿|送|问(?!题)|回复|告诉|说|记录|标记|审核|审查|批准|申请|注册|登记|取消|添加|加上|加入|增加|去掉|删掉|减肥)/

/** Beginnings of the description of an action. */
const CHINESE_CLAUSE =
  /^\s*(?:总?预算|费用|花费|开[销支]|时间|地点|人数|日期|主题|大概|大约|大致|左右|最好|最多|最少|至少|不|别|没|无|要(?!求)|需要?有|必须|应该|希望|因为|由于|所以|但|可是|不过|如果|要是|包括|包含|含有?|其中|尤其|特别|在|于|从|到|离|靠近|用|使用|通过|带|去|有|是|共|一共|总共|每|以|按|适合|面向|限|他|她|它|这|那|我们?(?!想|要|需要)|大家|并?不)/
