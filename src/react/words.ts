import { createContext, useContext } from 'react'
import { LIMITS } from '../domain/text.ts'

/** Everything that the panels say. A language is another one of these. */
export interface Words {
  /** Its language, as dates and times are written in it. */
  readonly locale: string
  readonly plan: string
  readonly noCurrent: string
  readonly progress: (done: number, total: number) => string
  readonly remaining: (count: number) => string
  readonly blocked: (count: number) => string
  readonly more: (count: number) => string
  readonly continuing: (title: string) => string
  readonly incomplete: (count: number) => string
  readonly limitReached: (count: number) => string
  readonly continueTurn: string
  readonly expand: string
  readonly collapse: string
  readonly addTask: string
  readonly newTask: string
  readonly edit: string
  readonly save: string
  readonly discard: string
  readonly markDone: string
  readonly reopen: string
  readonly cancelTask: string
  readonly moveUp: string
  readonly moveDown: string
  readonly drag: string
  readonly moreActions: string
  readonly movedTo: (place: number, count: number) => string
  readonly remove: string
  readonly reportedDone: string
  readonly notTold: string
  readonly notToldBriefly: string
  readonly status: Readonly<Record<'pending' | 'in_progress' | 'completed' | 'blocked' | 'cancelled', string>>
  readonly rowStatus: Readonly<Record<'todo' | 'doing' | 'blocked' | 'done', string>>
  readonly priority: Readonly<Record<'high' | 'medium' | 'low', string>>
  readonly review: string
  readonly reviewWaits: (count: number) => string
  readonly turn: (number: number) => string
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly moreFields: string
  readonly fewerFields: string
  readonly priorityLabel: string
  readonly statusLabel: string
  readonly tags: string
  readonly tagsLabel: string
  readonly addRow: string
  readonly selectRow: (row: number) => string
  readonly selected: (count: number) => string
  readonly setTags: string
  readonly tagsSet: (rows: number) => string
  readonly insertTemplate: string
  readonly saveTemplate: string
  readonly templateName: string
  readonly templateSaved: (name: string) => string
  readonly templateExists: (name: string) => string
  readonly replaceTemplate: string
  readonly comment: string
  readonly confirm: string
  readonly cancel: string
  readonly emptyTitle: (row: number) => string
  readonly noRows: string
  readonly tooManyRows: (most: number) => string
  readonly rowProblem: (row: number) => string
  readonly timeLeft: (time: string) => string
  readonly cancelAsk: string
  readonly throwAway: string
  readonly throwAwayYes: string
  readonly keepEditing: string
  readonly decidedElsewhere: (how: string) => string
  readonly stoppedBefore: string
  readonly closedBefore: string
  readonly timedOut: string
  readonly askAgain: string
  /** After nobody decided, and before it is asked again. */
  readonly changesKept: string
  readonly earlierChanges: string
  readonly takeUp: string
  readonly dismiss: string
  readonly failedToSend: string
  readonly retry: string
  readonly sending: string
  readonly outcome: Readonly<Record<'pending' | 'confirmed' | 'cancelled' | 'expired', string>>
  readonly history: string
  /** The timeline's sentences. */
  readonly happened: {
    /** A sentence, and who did it. */
    readonly signed: (sentence: string, who: string) => string
    readonly all: (what: readonly string[]) => string
    readonly created: (title: string) => string
    readonly removed: (title: string) => string
    readonly changed: (title: string, what: string) => string
    readonly passed: (judge: string) => string
    readonly turnedDown: (judge: string, reason: string) => string
    readonly unjudged: (judge: string) => string
    readonly proposed: (titles: string) => string
    readonly confirmed: string
    readonly notConfirmed: string
    /** Who did what one proposed and the other confirmed. */
    readonly agreed: string
    readonly by: Readonly<Record<'model' | 'person' | 'assessor' | 'file' | 'system', string>>
    readonly field: Readonly<Record<string, string>>
  }
  readonly elapsed: (time: string) => string
  /** What the server says by a code, and of a field that it does not take; what is not here is said in its words. */
  readonly errors: Readonly<Record<string, string>>
  readonly fieldErrors: Readonly<Record<string, string>>
}

/** The English texts of the panels. */
export const english: Words = {
  locale: 'en',
  plan: 'Plan',
  noCurrent: '—',
  progress: (done, total) => `${done} of ${total}`,
  remaining: count => `${count} remaining`,
  blocked: count => `${count} blocked`,
  more: count => `+${count} more`,
  continuing: title => `Continuing: ${title}`,
  incomplete: count => `Not finished: ${count} left`,
  limitReached: count => `Step limit reached: ${count} left`,
  continueTurn: 'Continue',
  expand: 'Show the plan',
  collapse: 'Hide the plan',
  addTask: 'Add a task',
  newTask: 'New task',
  edit: 'Reword',
  save: 'Save',
  discard: 'Discard',
  markDone: 'Mark done',
  reopen: 'Reopen',
  cancelTask: 'Cancel this task',
  moveUp: 'Move up',
  moveDown: 'Move down',
  drag: 'Drag to reorder',
  moreActions: 'More actions',
  movedTo: (place, count) => `Moved to ${place} of ${count}`,
  remove: 'Remove',
  reportedDone: 'reported done',
  notTold: 'The agent has not seen this change yet',
  notToldBriefly: 'agent not told yet',
  status: { pending: 'to do', in_progress: 'current', completed: 'done', blocked: 'blocked', cancelled: 'cancelled' },
  rowStatus: { todo: 'To do', doing: 'Doing', blocked: 'Blocked', done: 'Done' },
  priority: { high: 'High', medium: 'Medium', low: 'Low' },
  review: 'Review the plan',
  reviewWaits: count => `A plan of ${count} waits for your decision, above the input.`,
  turn: number => `turn ${number}`,
  title: 'Title',
  details: 'Details',
  criteria: 'Done when',
  moreFields: 'More fields',
  fewerFields: 'Fewer fields',
  priorityLabel: 'Priority',
  statusLabel: 'Status',
  tags: 'Tags, separated by commas',
  tagsLabel: 'Tags',
  addRow: 'Add a row',
  selectRow: row => `Select row ${row}`,
  selected: count => `${count} selected`,
  setTags: 'Set tags',
  tagsSet: rows => (rows === 1 ? 'Tags set in 1 row' : `Tags set in ${rows} rows`),
  insertTemplate: 'Insert a template',
  saveTemplate: 'Save as template',
  templateName: 'Name of the template',
  templateSaved: name => `Saved as “${name}”.`,
  templateExists: name => `“${name}” exists already.`,
  replaceTemplate: 'Replace it',
  comment: 'A word for the agent (optional)',
  confirm: 'Confirm',
  cancel: 'Cancel',
  emptyTitle: row => `Row ${row} has no title.`,
  noRows: 'A plan needs at least one row. To write none, cancel.',
  tooManyRows: most => `A plan holds at most ${most} rows.`,
  rowProblem: row => `Row ${row} cannot be taken as it is.`,
  timeLeft: time => `${time} left`,
  cancelAsk: 'Cancel the plan?',
  throwAway: 'Throw your changes away and cancel the plan?',
  throwAwayYes: 'Cancel the plan',
  keepEditing: 'Keep editing',
  decidedElsewhere: how => `This plan was decided elsewhere: ${how}.`,
  stoppedBefore: 'The agent was stopped before you decided, so nothing was written.',
  closedBefore: 'Its page was closed before anybody decided, so nothing was written.',
  timedOut: 'Nobody decided in time, so nothing was written.',
  askAgain: 'Ask again',
  changesKept: 'Your changes are kept for when it is asked again.',
  earlierChanges: 'Your changes to the proposal before this one are kept.',
  takeUp: 'Bring them back',
  dismiss: 'Close',
  failedToSend: 'It could not be sent. Your changes are still here.',
  retry: 'Retry',
  sending: 'Sending …',
  outcome: { pending: 'waiting', confirmed: 'confirmed', cancelled: 'cancelled', expired: 'timed out' },
  history: 'History',
  happened: {
    signed: (sentence, who) => `${sentence} (${who})`,
    all: what => what.join(', '),
    created: title => `Added: ${title}`,
    removed: title => `Removed: ${title}`,
    changed: (title, what) => `${title}: ${what}`,
    passed: judge => `Judged done (${judge})`,
    turnedDown: (judge, reason) => `Turned down (${judge}): ${reason}`,
    unjudged: judge => `Not judged (${judge})`,
    proposed: titles => `Proposed: ${titles}`,
    confirmed: 'Plan confirmed',
    notConfirmed: 'Plan not confirmed',
    agreed: 'agent, confirmed by you',
    by: { model: 'agent', person: 'you', assessor: 'judge', file: 'file', system: 'by itself' },
    field: {
      title: 'reworded',
      details: 'details',
      criteria: 'done when',
      priority: 'priority',
      tags: 'tags',
      outcome: 'outcome',
      position: 'moved',
    },
  },
  elapsed: time => `running for ${time}`,
  errors: {
    turn_running: 'Another request is still being worked on. Stop it, or wait until it is done.',
    version_mismatch: 'It was changed meanwhile: this is what it says now.',
    internal: 'Something went wrong in the server.',
  },
  fieldErrors: { status: 'Only one row can be “Doing”.' },
}

/** The Chinese texts of the panels. */
export const chinese: Words = {
  locale: 'zh',
  plan: '计划',
  noCurrent: '—',
  progress: (done, total) => `${done} / ${total}`,
  remaining: count => `剩余 ${count} 项`,
  blocked: count => `${count} 项受阻`,
  more: count => `还有 ${count} 项`,
  continuing: title => `继续：${title}`,
  incomplete: count => `尚未完成：剩余 ${count} 项`,
  limitReached: count => `已达步数上限：剩余 ${count} 项`,
  continueTurn: '继续',
  expand: '展开计划',
  collapse: '收起计划',
  addTask: '添加任务',
  newTask: '新任务',
  edit: '修改',
  save: '保存',
  discard: '放弃',
  markDone: '标记完成',
  reopen: '重新打开',
  cancelTask: '取消此任务',
  moveUp: '上移',
  moveDown: '下移',
  drag: '拖动排序',
  moreActions: '更多操作',
  movedTo: (place, count) => `已移到第 ${place} 位，共 ${count} 项`,
  remove: '移除',
  reportedDone: '自报完成',
  notTold: '助手尚未得知此更改',
  notToldBriefly: '助手尚未得知',
  status: { pending: '待办', in_progress: '进行中', completed: '完成', blocked: '受阻', cancelled: '已取消' },
  rowStatus: { todo: '待办', doing: '进行中', blocked: '受阻', done: '完成' },
  priority: { high: '高', medium: '中', low: '低' },
  review: '审阅计划',
  reviewWaits: count => `输入框上方有一份 ${count} 项的计划等待您决定。`,
  turn: number => `第 ${number} 轮`,
  title: '标题',
  details: '详情',
  criteria: '完成标准',
  moreFields: '更多字段',
  fewerFields: '收起字段',
  priorityLabel: '优先级',
  statusLabel: '状态',
  tags: '标签，用逗号分隔',
  tagsLabel: '标签',
  addRow: '添加一行',
  selectRow: row => `选择第 ${row} 行`,
  selected: count => `已选 ${count} 行`,
  setTags: '设置标签',
  tagsSet: rows => `已为 ${rows} 行设置标签`,
  insertTemplate: '插入模板',
  saveTemplate: '存为模板',
  templateName: '模板名称',
  templateSaved: name => `已存为“${name}”。`,
  templateExists: name => `“${name}”已存在。`,
  replaceTemplate: '替换',
  comment: '给助手的话（可选）',
  confirm: '确认',
  cancel: '取消',
  emptyTitle: row => `第 ${row} 行没有标题。`,
  noRows: '计划至少需要一行；若不需要，请取消。',
  tooManyRows: most => `计划最多 ${most} 行。`,
  rowProblem: row => `第 ${row} 行需要修改。`,
  timeLeft: time => `剩余 ${time}`,
  cancelAsk: '取消该计划？',
  throwAway: '放弃修改并取消该计划？',
  throwAwayYes: '取消计划',
  keepEditing: '继续编辑',
  decidedElsewhere: how => `该计划已在别处处理：${how}。`,
  stoppedBefore: '在您决定之前已停止，未写入任何内容。',
  closedBefore: '页面在决定之前被关闭，未写入任何内容。',
  timedOut: '超时无人决定，未写入任何内容。',
  askAgain: '再次询问',
  changesKept: '您的修改已保留，再次询问时可以取回。',
  earlierChanges: '您对上一份计划的修改已保留。',
  takeUp: '取回修改',
  dismiss: '关闭',
  failedToSend: '发送失败，您的修改仍在。',
  retry: '重试',
  sending: '正在发送…',
  outcome: { pending: '等待中', confirmed: '已确认', cancelled: '已取消', expired: '已超时' },
  history: '历史',
  happened: {
    signed: (sentence, who) => `${sentence}（${who}）`,
    all: what => what.join('、'),
    created: title => `添加：${title}`,
    removed: title => `移除：${title}`,
    changed: (title, what) => `${title}：${what}`,
    passed: judge => `判定完成（${judge}）`,
    turnedDown: (judge, reason) => `未通过（${judge}）：${reason}`,
    unjudged: judge => `未能判定（${judge}）`,
    proposed: titles => `提出：${titles}`,
    confirmed: '计划已确认',
    notConfirmed: '计划未确认',
    agreed: '助手提出，您已确认',
    by: { model: '助手', person: '您', assessor: '评审', file: '文件', system: '自动' },
    field: {
      title: '改写',
      details: '详情',
      criteria: '完成标准',
      priority: '优先级',
      tags: '标签',
      outcome: '结果',
      position: '移动',
    },
  },
  elapsed: time => `已运行 ${time}`,
  errors: {
    unreachable: '无法连接服务器。',
    turn_running: '另一个请求仍在处理中。请停止它，或等待完成。',
    turn_conflict: '该请求已存在，但内容不同。',
    turn_finished: '这一轮已经结束。',
    no_turn: '还没有可以加入任务的轮次，请先发送一条消息。',
    version_mismatch: '该任务刚刚被改动，这里显示的是最新内容。',
    task_settled: '该任务已经结束。',
    task_not_found: '找不到该任务。',
    status_not_allowed: '该任务不能改为此状态。',
    two_in_progress: '只能有一项任务进行中。',
    too_many_open: `一个会话最多有 ${LIMITS.open} 项未完成的任务。`,
    batch_empty: '计划至少需要一行。',
    batch_too_large: `计划最多 ${LIMITS.batch} 行。`,
    invalid_field: '有一项内容无法接受。',
    body_too_large: '内容过长。',
    rate_limited: '操作过于频繁，请稍后再试。',
    not_implemented: '此服务器不处理请求，只供其他代理调用。',
    session_not_found: '找不到该会话。',
    internal: '服务器出错了。',
  },
  fieldErrors: {
    title: `标题须为 1 到 ${LIMITS.title} 个字符。`,
    details: `详情最多 ${LIMITS.text} 个字符。`,
    criteria: `完成标准最多 ${LIMITS.text} 个字符。`,
    comment: `给助手的话最多 ${LIMITS.text} 个字符。`,
    tags: `最多 ${LIMITS.tags} 个标签，每个最多 ${LIMITS.tag} 个字符。`,
    status: '只能有一行为“进行中”。',
    name: `名称须为一行，最多 ${LIMITS.tag} 个字符。`,
    message: '消息不能为空，也不能过长。',
  },
}

/** The texts of the panels. Provide your own to translate them. */
export const WordsContext = createContext<Words>(english)
/** The texts of the panels in the language of the page. */
export const useWords = (): Words => useContext(WordsContext)
