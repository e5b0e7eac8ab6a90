export const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text)

/** Whether a step asks for more than one thing, judged by its joining words. Lists of numbers are one thing. */
export function isCompound(title: string): boolean {
  const bare = unquoted(title).replaceAll(
    /(?<!\d)-?\d+(?:\.\d+)?(?:\s*(?:,|，|、|\band\b|和)\s*-?\d+(?:\.\d+)?)+/gi,
    '0',
  )
  return /[,;&，；、]|\b(?:and|then|plus|also|before|after|afterwards)\b|然后|并|再|接着|以及/i.test(bare)
}

/** Closed-class words that join a second action, or refer to something outside the title. */
export const FUNCTION_WORDS = words(`
  and or nor but then plus also afterwards after before when once while if unless until because so as than that which who
  whom whose what where why how it its them they their theirs this these those he him his she her hers us we you from into
  via by using use including with without according based per is are was were be been being am do does did done has have
  had will would can could shall should may might must not no please everyone everybody anyone all every each any both
  same above below previous here there
`)

/** Verbs of action that are hardly ever nouns. */
export const ACTIONS = words(`
  send sends sending pay pays paying buy buys buying transfer transferring deliver submit submitting delete deleting remove
  deploy deploying install download upload uploading publish publishing notify notifying invite inviting hire cancel refund
  fetch forward email emailing mail mailing phone telephone arrange arranging organise organize reserve sign fix merge
  commit push
`)
/** Also nouns, so only a text's own title may contain them. */
export const AMBIGUOUS = words('email mail')

/** Words for facts that cannot be made up: data, records, superlatives, dates. */
export const FACTS = words(`
  number numbers figure figures result results data name names address addresses bug bugs customer customers client clients
  user users sales revenue profit price prices statistics stats fact facts balance status news weather minutes findings
  confirmation capital capitals latest current recent existing open closed largest smallest biggest highest lowest best
  worst top most least today yesterday tomorrow quarterly annual monthly invoice invoices receipt receipts password
  passwords file files attachment attachments history biography population
`)

export const EVENT =
  /\b(?:party|birthday|wedding|picnic|barbecue|dinner|celebration|reunion|conference|workshop|meet-?up|event|concert)\b/i
export const JOURNEY = /\b(?:trip|travel|holiday|vacation|journey|weekend|visit|tour|hike)\b/i

export const CHINESE_EVENT = /聚会|生日|婚礼|派对|晚会|活动|会议|年会|聚餐|野餐/
export const CHINESE_JOURNEY = /旅行|旅游|出游|出差|度假/
export const CHINESE_ACTION =
  /[并再]|然后|以及|之后|接着|发送|发给|发出|寄|付|转账|买|预订|订购|订|打电话|联系|提交|删除|部署|运行|上传|下载|修复/
export const CHINESE_FACT =
  /[它他她其]|这些|那些|上述|名字|姓名|名单|号码|编号|数据|数字|结果|客户|用户|漏洞|缺陷|首都|销售|价格|余额|地址|文件|最|当前|目前|今天|昨天|季度|年度/

/** Removes quoted text, which names something and asks for nothing. */
export const unquoted = (text: string): string => text.replaceAll(/“[^”]*”|"[^"]*"/g, '')

export function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}
