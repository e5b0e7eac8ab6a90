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
  readonly signInTitle: string
  readonly signInHow: string
  readonly emptyTitle: string
  readonly emptyHint: string
  readonly tries: readonly string[]
  readonly thinking: string
  readonly waitingForYou: string
  readonly history: string
  readonly toolCall: (name: string) => string
  readonly ended: Readonly<Record<'incomplete' | 'failed' | 'stopped', string>>
  readonly continueMessage: string
  readonly againMessage: string
}

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
  signInTitle: 'You are not signed in',
  signInHow: 'Where the server runs, ask for a fresh link and open it:',
  emptyTitle: 'What shall we get done?',
  emptyHint: 'You see the plan before anything happens. Edit it, confirm it, and watch it being worked off.',
  tries: [
    'Collect the figures, compute 12*7 and then write the report.',
    '1. Draft the invitation\n2. Choose a date\n3. Send it to everybody',
    'Plan the release: tag it, build it, then tell the team.',
  ],
  thinking: 'Working …',
  waitingForYou: 'Waiting for your decision',
  history: 'History',
  toolCall: name => `Used ${name}`,
  ended: { incomplete: 'Not finished', failed: 'Failed', stopped: 'Stopped' },
  continueMessage: 'Continue with the plan.',
  againMessage: 'Please propose the plan again.',
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
  signInTitle: '您尚未登录',
  signInHow: '在服务器所在处获取新链接并打开：',
  emptyTitle: '要完成什么？',
  emptyHint: '执行之前您会先看到计划。修改、确认，然后看它逐步完成。',
  tries: ['先收集数据，然后计算 12*7，最后撰写报告。', '1. 起草邀请函\n2. 选择日期\n3. 发送给所有人'],
  thinking: '处理中……',
  waitingForYou: '等待您的决定',
  history: '历史',
  toolCall: name => `使用了 ${name}`,
  ended: { incomplete: '未完成', failed: '失败', stopped: '已停止' },
  continueMessage: '请继续执行计划。',
  againMessage: '请重新提出计划。',
}

export const LANGUAGES = { en, zh } as const
export type Language = keyof typeof LANGUAGES

export const preferred = (): Language => {
  const chosen = localStorage.getItem('runsheet.language')
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.language.startsWith('zh') ? 'zh' : 'en'
}
