import { createContext, useContext } from 'react'

/** Everything that the panels say. A language is another one of these. */
export interface Words {
  readonly plan: string
  readonly noCurrent: string
  readonly progress: (done: number, total: number) => string
  readonly remaining: (count: number) => string
  readonly blocked: (count: number) => string
  readonly more: (count: number) => string
  readonly continuing: (title: string) => string
  readonly incomplete: (count: number) => string
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
  readonly remove: string
  readonly reportedDone: string
  readonly notTold: string
  readonly status: Readonly<Record<'pending' | 'in_progress' | 'completed' | 'blocked' | 'cancelled', string>>
  readonly rowStatus: Readonly<Record<'todo' | 'doing' | 'blocked' | 'done', string>>
  readonly priority: Readonly<Record<'high' | 'medium' | 'low', string>>
  readonly review: string
  readonly reviewOf: (conversation: string, turn: number) => string
  readonly title: string
  readonly details: string
  readonly priorityLabel: string
  readonly statusLabel: string
  readonly tags: string
  readonly addRow: string
  readonly selectRow: (row: number) => string
  readonly selected: (count: number) => string
  readonly setTags: string
  readonly insertTemplate: string
  readonly saveTemplate: string
  readonly templateName: string
  readonly comment: string
  readonly confirm: string
  readonly cancel: string
  readonly emptyTitle: (row: number) => string
  readonly timeLeft: (time: string) => string
  readonly throwAway: string
  readonly throwAwayYes: string
  readonly keepEditing: string
  readonly decidedElsewhere: (how: string) => string
  readonly timedOut: string
  readonly askAgain: string
  readonly dismiss: string
  readonly failedToSend: string
  readonly retry: string
  readonly outcome: Readonly<Record<'pending' | 'confirmed' | 'cancelled' | 'expired', string>>
  readonly history: string
  readonly elapsed: (time: string) => string
}

export const english: Words = {
  plan: 'Plan',
  noCurrent: '—',
  progress: (done, total) => `${done} of ${total}`,
  remaining: count => `${count} remaining`,
  blocked: count => `${count} blocked`,
  more: count => `+${count} more`,
  continuing: title => `Continuing: ${title}`,
  incomplete: count => `Not finished: ${count} left`,
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
  remove: 'Remove',
  reportedDone: 'reported done',
  notTold: 'The agent has not seen this change yet',
  status: { pending: 'to do', in_progress: 'current', completed: 'done', blocked: 'blocked', cancelled: 'cancelled' },
  rowStatus: { todo: 'To do', doing: 'Doing', blocked: 'Blocked', done: 'Done' },
  priority: { high: 'High', medium: 'Medium', low: 'Low' },
  review: 'Review the plan',
  reviewOf: (conversation, turn) => `${conversation} · turn ${turn}`,
  title: 'Title',
  details: 'Details',
  priorityLabel: 'Priority',
  statusLabel: 'Status',
  tags: 'Tags, separated by commas',
  addRow: 'Add a row',
  selectRow: row => `Select row ${row}`,
  selected: count => `${count} selected`,
  setTags: 'Set tags',
  insertTemplate: 'Insert a template',
  saveTemplate: 'Save as template',
  templateName: 'Name of the template',
  comment: 'A word for the agent (optional)',
  confirm: 'Confirm',
  cancel: 'Cancel',
  emptyTitle: row => `Row ${row} has no title.`,
  timeLeft: time => `${time} left`,
  throwAway: 'Throw your changes away and cancel the plan?',
  throwAwayYes: 'Cancel the plan',
  keepEditing: 'Keep editing',
  decidedElsewhere: how => `This plan was decided elsewhere: ${how}.`,
  timedOut: 'Nobody decided in time, so nothing was written.',
  askAgain: 'Ask again',
  dismiss: 'Close',
  failedToSend: 'It could not be sent. Your changes are still here.',
  retry: 'Retry',
  outcome: { pending: 'waiting', confirmed: 'confirmed', cancelled: 'cancelled', expired: 'timed out' },
  history: 'History',
  elapsed: time => `running for ${time}`,
}

export const chinese: Words = {
  plan: '计划',
  noCurrent: '—',
  progress: (done, total) => `${done} / ${total}`,
  remaining: count => `剩余 ${count} 项`,
  blocked: count => `${count} 项受阻`,
  more: count => `还有 ${count} 项`,
  continuing: title => `继续：${title}`,
  incomplete: count => `尚未完成：剩余 ${count} 项`,
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
  remove: '移除',
  reportedDone: '自报完成',
  notTold: '助手尚未得知此更改',
  status: { pending: '待办', in_progress: '进行中', completed: '完成', blocked: '受阻', cancelled: '已取消' },
  rowStatus: { todo: '待办', doing: '进行中', blocked: '受阻', done: '完成' },
  priority: { high: '高', medium: '中', low: '低' },
  review: '审阅计划',
  reviewOf: (conversation, turn) => `${conversation} · 第 ${turn} 轮`,
  title: '标题',
  details: '详情',
  priorityLabel: '优先级',
  statusLabel: '状态',
  tags: '标签，用逗号分隔',
  addRow: '添加一行',
  selectRow: row => `选择第 ${row} 行`,
  selected: count => `已选 ${count} 行`,
  setTags: '设置标签',
  insertTemplate: '插入模板',
  saveTemplate: '存为模板',
  templateName: '模板名称',
  comment: '给助手的话（可选）',
  confirm: '确认',
  cancel: '取消',
  emptyTitle: row => `第 ${row} 行没有标题。`,
  timeLeft: time => `剩余 ${time}`,
  throwAway: '放弃修改并取消该计划？',
  throwAwayYes: '取消计划',
  keepEditing: '继续编辑',
  decidedElsewhere: how => `该计划已在别处处理：${how}。`,
  timedOut: '超时无人决定，未写入任何内容。',
  askAgain: '再次询问',
  dismiss: '关闭',
  failedToSend: '发送失败，您的修改仍在。',
  retry: '重试',
  outcome: { pending: '等待中', confirmed: '已确认', cancelled: '已取消', expired: '已超时' },
  history: '历史',
  elapsed: time => `已运行 ${time}`,
}

export const WordsContext = createContext<Words>(english)
export const useWords = (): Words => useContext(WordsContext)
