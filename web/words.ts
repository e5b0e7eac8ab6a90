import { chinese, english, type Words } from '../src/react/index.ts'

/** What the chat says beyond its panels. */
export interface AppWords {
  readonly panels: Words
  readonly conversations: string
  readonly messages: string
  readonly newChat: string
  readonly untitled: string
  readonly search: string
  readonly noResults: string
  readonly message: string
  readonly send: string
  readonly stop: string
  readonly stopping: string
  readonly copy: string
  readonly copied: string
  readonly retry: string
  readonly you: string
  readonly assistant: string
  readonly toolset: string
  readonly model: string
  readonly menu: string
  readonly close: string
  readonly theme: string
  readonly language: string
  readonly reconnecting: string
  readonly loading: string
  readonly skip: string
  readonly signInTitle: string
  readonly signInHow: string
  readonly fromSource: string
  readonly installed: string
  readonly badLink: string
  readonly signedOut: string
  readonly emptyTitle: string
  readonly emptyHint: string
  readonly tries: readonly string[]
  readonly elsewhere: string
  readonly thinking: string
  readonly waitingForYou: string
  readonly history: string
  readonly backToChat: string
  readonly noHistory: string
  readonly turn: (number: number) => string
  readonly byAgent: string
  readonly noTasks: string
  readonly allEvents: string
  readonly timelineOf: (title: string) => string
  readonly more: string
  readonly toolCall: (name: string) => string
  readonly toolArguments: string
  readonly toolAnswer: string
  readonly toolWaits: string
  readonly toolFailed: string
  readonly notRead: string
  readonly took: (ms: number) => string
  readonly ended: Readonly<Record<'open' | 'running' | 'done' | 'incomplete' | 'failed' | 'stopped', string>>
  readonly continueMessage: string
  /** Of a plan that an agent elsewhere made: who is asked knows nothing of it. */
  readonly againMessage: (titles: readonly string[]) => string
}

const listed = (titles: readonly string[]): string => titles.map((title, place) => `${place + 1}. ${title}`).join('\n')

const en: AppWords = {
  panels: english,
  conversations: 'Conversations',
  messages: 'Messages',
  newChat: 'New chat',
  untitled: 'New conversation',
  search: 'Search tasks',
  noResults: 'No task holds that.',
  message: 'Ask for something with several steps',
  send: 'Send',
  stop: 'Stop',
  stopping: 'Stopping …',
  copy: 'Copy',
  copied: 'Copied',
  retry: 'Retry',
  you: 'You',
  assistant: 'Assistant',
  toolset: 'Toolset',
  model: 'Model',
  menu: 'Conversations and search',
  close: 'Close',
  theme: 'Light or dark',
  language: '中文',
  reconnecting: 'Connection lost. Reconnecting …',
  loading: 'Loading …',
  skip: 'Skip to the message box',
  signInTitle: 'You are not signed in',
  signInHow: 'Get a fresh link where the server runs, and open it in this browser:',
  fromSource: 'In a clone',
  installed: 'Installed',
  badLink: 'This link was used already, or is too old. A link works once.',
  signedOut: 'The server no longer knows this browser.',
  emptyTitle: 'What shall we get done?',
  emptyHint: 'You see the plan before anything happens. Edit it, confirm it, and watch it being worked off.',
  tries: [
    'Collect the figures, compute 12*7 and then write the report.',
    '1. Draft the invitation\n2. Choose a date\n3. Send it to everybody',
    'Plan the release: tag it, build it, then tell the team.',
  ],
  elsewhere:
    'An agent elsewhere works in this conversation. You see its plan, and can change it; or ask for something here.',
  thinking: 'Working …',
  waitingForYou: 'Waiting for your decision',
  history: 'History',
  backToChat: 'Back to the conversation',
  noHistory: 'Nothing has happened here yet.',
  turn: number => `Turn ${number}`,
  byAgent: 'By an agent elsewhere',
  noTasks: 'No tasks.',
  allEvents: 'Everything that happened, in order',
  timelineOf: title => `What happened to “${title}”`,
  more: 'Show more',
  toolCall: name => `Used ${name}`,
  toolArguments: 'Asked',
  toolAnswer: 'Answered',
  toolWaits: 'No answer yet.',
  toolFailed: 'refused',
  notRead: 'The answer could not be read.',
  took: ms => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`),
  ended: {
    open: 'Open',
    running: 'Working',
    done: 'Done',
    incomplete: 'Not finished',
    failed: 'Failed',
    stopped: 'Stopped',
  },
  continueMessage: 'Continue with the plan.',
  againMessage: titles => `Please propose this plan again:\n\n${listed(titles)}`,
}

const zh: AppWords = {
  panels: chinese,
  conversations: '会话',
  messages: '消息',
  newChat: '新会话',
  untitled: '新会话',
  search: '搜索任务',
  noResults: '没有符合的任务。',
  message: '请提出一个包含多个步骤的请求',
  send: '发送',
  stop: '停止',
  stopping: '正在停止……',
  copy: '复制',
  copied: '已复制',
  retry: '重试',
  you: '您',
  assistant: '助手',
  toolset: '工具集',
  model: '模型',
  menu: '会话与搜索',
  close: '关闭',
  theme: '浅色或深色',
  language: 'English',
  reconnecting: '连接中断，正在重新连接……',
  loading: '正在加载……',
  skip: '跳到输入框',
  signInTitle: '您尚未登录',
  signInHow: '请在运行服务器的机器上获取新链接，并在此浏览器中打开：',
  fromSource: '源代码目录中',
  installed: '已安装',
  badLink: '此链接已被使用或已过期。每个链接只能使用一次。',
  signedOut: '服务器不再认识此浏览器。',
  emptyTitle: '要完成什么？',
  emptyHint: '执行之前您会先看到计划。修改、确认，然后看它逐步完成。',
  tries: [
    '先收集数据，然后计算 12*7，最后撰写报告。',
    '1. 起草邀请函\n2. 选择日期\n3. 发送给所有人',
    '准备发布：先打标签，然后构建，最后通知团队。',
  ],
  elsewhere: '其他代理正在此会话中工作。您可以查看并修改它的计划，也可以在这里提出请求。',
  thinking: '处理中……',
  waitingForYou: '等待您的决定',
  history: '历史',
  backToChat: '返回会话',
  noHistory: '这里还没有任何记录。',
  turn: number => `第 ${number} 轮`,
  byAgent: '来自其他代理',
  noTasks: '没有任务。',
  allEvents: '按顺序查看全部记录',
  timelineOf: title => `“${title}”的经过`,
  more: '显示更多',
  toolCall: name => `使用了 ${name}`,
  toolArguments: '请求',
  toolAnswer: '回答',
  toolWaits: '尚无回答。',
  toolFailed: '被拒绝',
  notRead: '无法读取回答。',
  took: ms => (ms < 1_000 ? `${ms} 毫秒` : `${(ms / 1_000).toFixed(1)} 秒`),
  ended: {
    open: '进行中',
    running: '处理中',
    done: '已完成',
    incomplete: '未完成',
    failed: '失败',
    stopped: '已停止',
  },
  continueMessage: '请继续执行计划。',
  againMessage: titles => `请重新提出以下计划：\n\n${listed(titles)}`,
}

export const LANGUAGES = { en, zh } as const
export type Language = keyof typeof LANGUAGES

export const preferred = (): Language => {
  const chosen = localStorage.getItem('runsheet.language')
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.language.startsWith('zh') ? 'zh' : 'en'
}
