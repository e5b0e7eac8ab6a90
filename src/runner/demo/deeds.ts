import { bareGoal, VERBS } from './english-verbs.ts'
import { isChinese } from './language.ts'
import { ACTIONS, words } from './lexicon.ts'

/** Whether a part of a sentence asks for something to be done: "order a cake" does, "with candles" and "fresh eggs" do not. */
export const isDeed = (part: string): boolean => (isChinese(part) ? isChineseDeed(part) : isEnglishDeed(part))

/** Whether a part of a sentence says more about a deed, as far as its first or last word tells. */
export const isClause = (part: string): boolean =>
  isChinese(part) ? CHINESE_CLAUSE.test(part) : CLAUSE.test(part) || CLAUSE_END.test(part) || isGerund(part)

/** Whether a sentence tells something instead of asking for it: "Budget is tight". */
export function isRemark(sentence: string): boolean {
  const bare = sentence.replace(/^[^:：]{3,80}[:：]\s*(?=\S)/, '')
  if (bare.split(/[,，]\s*|\s+then\s+/i).some(isDeed)) return false
  return isClause(bare) || (!isChinese(bare) && TELLS.test(bare))
}

/** A goal without the clauses that follow it. Lists of things stay: "Learn HTML, CSS and Java". */
export function withoutClauses(goal: string): string {
  if (isChinese(goal)) return goal.replace(/[，；].*$/, '')
  const [core = '', ...parts] = goal.split(/,\s+/)
  const end = parts.findIndex(isClause)
  return [core, ...(end < 0 ? parts : parts.slice(0, end))].join(', ')
}

function isEnglishDeed(part: string): boolean {
  const bare = bareGoal(part.trim()).replace(/^\p{L}+ly\s+/iu, '')
  const [first = '', second = ''] = bare.toLowerCase().split(/\s+/)
  if (!/^\p{L}[\p{L}-]+$/u.test(first) || isClause(bare) || FINITE.test(second)) return false
  // "Use HTML" tells how, "use the key" what to do.
  return (VERBS.has(first) && first !== 'use') || ACTIONS.has(first) || MORE_VERBS.has(first) || OBJECT.test(second)
}

const isGerund = (part: string): boolean => /^\s*(?!bring|swing|spring)\p{L}{2,}ing\b/iu.test(part)

const OBJECT = /^(?:a|an|the|my|our|your|his|her|their|its|this|that|these|those|it|them|him|me|us|up|out|down)$/
const FINITE = /^(?:is|are|was|were|has|had|will|would|can|cannot|could|should|must|may|might)$/
/** A subject, and a verb that is not asked for. */
const TELLS =
  /^(?:\S+\s+){1,4}?(?:is|are|was|were|isn[’']t|aren[’']t|has|have|had|will|won[’']t|can|can[’']t|cannot|could|should|must|may|might|needs?|wants?|likes?|loves?|hates?|turns?|costs?)\b/i

/** Words that begin what is said about a deed. */
const CLAUSE =
  /^\s*(?:[\d€$£]|(?:about|after|all|an?|approximately|around|as|at|avoid|be|because|before|between|both|budget|but|by|cheap|do(?:n[’']t| not)|during|each|either|ensure|especially|even|every|except|for|from|he|hers?|his|how|i(?!\s+(?:want|need|have|plan|hope|would like)\s+to\b)|ideally|if|in|inside|into|it|its|just|keep (?:it|things|costs)|like|make (?:sure|it)|max(?:imum)?|maybe|min(?:imum)?|mostly|my|near|next|no|none|not|of|on|one|only|or|otherwise|our|outside|over|per|perhaps|plus|possibly|preferably|rather|she|since|so|some|such|than|that|the|their|there|these|they|this|those|three|through|to|together|two|under|unless|until|up to|very|via|we(?!\s+(?:want|need|have|plan|hope|would like)\s+to\b)|what|when|where|whether|which|while|whom?|whose|why|with|within|without|you|your)\b)/i

const CLAUSE_END = /\s(?:included|allowed|welcome|preferred|required|permitting)\W*$/i

/** Verbs that steps begin with, besides those of goals. */
const MORE_VERBS = words(`
  accept adjust agree align announce answer approve assemble assess assign attach audit back backup benchmark block boil
  brainstorm brew brief brush calculate celebrate charge chop circulate code combine comment compile compose compute confirm
  connect contact copy count create define delegate describe design determine discuss document double-check draft drink drive
  drop drop-off dry dust edit eliminate empty enable enter estimate evaluate examine explain export extract feed file fill
  film find fold follow format fry gather generate greet hand hang harvest help hide highlight host identify implement
  import inform insert inspect interview introduce inventory investigate iron issue label lay lead list load lock log look
  mark measure mend mention merge mix mop mount mow name negotiate note number outline pack park peel pick pitch place plan
  polish post pour present preview print program proofread propose provide pull put query question rank rearrange reboot
  recruit recycle refresh register rehearse release remind rename reply report request research reset resolve respond
  restart restore return review revise revisit rinse roast say scan schedule score scrub search select separate serve share
  show sing sketch skip solve stir store stretch style subscribe suggest summarise summarize support sweep switch take talk
  tell text think throw tie transcribe translate trim try turn type unpack upload vacuum vote wait walk warn watch water
  weigh wipe wrap write
`)

const isChineseDeed = (part: string): boolean => !CHINESE_CLAUSE.test(part) && CHINESE_DEED.test(part)

/** What a step begins with, perhaps after whom or what it is for. */
const CHINESE_DEED =
  /^(?:请你?|帮我|首先|其次|然后|接着|最后|先|再|并且?|也|我们?(?:想要?|要|需要)|[\s：])*(?:把|将|(?:给|为|向|跟|和|对|替)[^，。]{1,12}?)?(?:写|起草|撰写|拟|列|制定|计划|策划|规划|安排|组织|筹备|准备|举办|邀请|通知|联系|发[送给出布邮]|发(?!票)|寄|付|支付|转账|买|购买|采购|订|预订|订购|租|卖|打(?!折)|检查|检验|测试|运行|部署|安装|配置|修|修复|修改|更新|升级|改(?!天)|删除|清理|清洁|整理|收拾|打扫|装饰|布置|做|制作|建|搭建|创建|开发|设计|实现|翻译|总结|汇总|整合|分析|研究|调查|比较|计算|统计|查|搜索|收集|找|选(?!项)|选择|确定|确认|决定|讨论|学(?!生)|学习|练习|阅读|读|看(?!起来)|复习|提交|上传|下载|备份|导出|导入|迁移|合并|发布|公布|拍|录|画|洗|煮|烤|炒|切|喂|浇|倒|搬|装(?!修费)|取|拿|送|问(?!题)|回复|告诉|说|记录|标记|审核|审查|批准|申请|注册|登记|取消|添加|加上|加入|增加|去掉|删掉|减肥)/

/** What is said about a deed. */
const CHINESE_CLAUSE =
  /^\s*(?:总?预算|费用|花费|开[销支]|时间|地点|人数|日期|主题|大概|大约|大致|左右|最好|最多|最少|至少|不|别|没|无|要(?!求)|需要?有|必须|应该|希望|因为|由于|所以|但|可是|不过|如果|要是|包括|包含|含有?|其中|尤其|特别|在|于|从|到|离|靠近|用|使用|通过|带|去|有|是|共|一共|总共|每|以|按|适合|面向|限|他|她|它|这|那|我们?(?!想|要|需要)|大家|并?不)/
