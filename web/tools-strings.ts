import type { ToolRule, ToolsAnswer } from 'runsheet/client'

/** The texts of the tools: loaded with them. */
export interface ToolsStrings {
  readonly title: string
  readonly about: string
  readonly close: string
  /** What is below the message box. */
  readonly count: (tools: number) => string
  /** Where there are more than an agent can have. */
  readonly countOf: (tools: number, all: number) => string
  readonly given: (count: string) => string
  readonly none: string
  readonly noneShort: string
  readonly failed: (servers: number) => string
  readonly connecting: string
  readonly giveFolder: string
  readonly manage: string

  readonly noneTitle: string
  readonly noneText: string
  readonly addFolder: string
  readonly addMore: string
  readonly folder: string
  readonly runThis: string
  readonly appears: string
  readonly copy: string
  readonly copied: string
  readonly otherServer: string
  readonly otherText: string
  readonly writes: (file: string) => string
  readonly notHere: string

  readonly state: Readonly<Record<'connecting' | 'ready' | 'failed', string>>
  readonly tools: (count: number) => string
  readonly slow: string
  readonly retry: string
  readonly remove: string
  /** What the button is called where several are heard one after the other. */
  readonly removeOf: (name: string) => string
  readonly removeSure: (name: string) => string
  readonly cancel: string
  readonly inFile: (file: string) => string
  readonly filter: string
  readonly noMatch: string
  readonly rule: Readonly<Record<ToolRule, string>>
  readonly ruleOf: (tool: string) => string
  readonly ruleHint: Readonly<Record<ToolRule, string>>
  readonly setAll: string
  readonly readOnly: string
  readonly changed: Readonly<Record<'tool' | 'server', string>>
  readonly leftOut: string
  readonly node: string
}

const english: ToolsStrings = {
  title: 'Tools',
  about: 'What the agent can do besides planning and writing.',
  close: 'Close',
  count: tools => (tools === 1 ? '1 tool' : `${tools} tools`),
  countOf: (tools, all) => `${tools} of ${all} tools`,
  given: count => `The agent gets ${count}: more than it can take are on. Set some to Never.`,
  none: 'No tools: this agent can plan and write, but not act.',
  noneShort: 'No tools',
  failed: servers => (servers === 1 ? '1 server failed' : `${servers} servers failed`),
  connecting: 'connecting…',
  giveFolder: 'Give it a folder',
  manage: 'Tools of the agent',
  noneTitle: 'This agent can plan and write, but not act',
  noneText:
    'It has no tools yet. Give it a folder, and it can read the files in it; before it writes one, it asks you.',
  addFolder: 'Give it a folder',
  addMore: 'Add more tools',
  folder: 'Folder',
  runThis: 'Run this in a terminal',
  appears: 'It then appears here by itself.',
  copy: 'Copy',
  copied: 'Copied',
  otherServer: 'Another MCP server',
  otherText: 'A program that speaks MCP, or a server on the web. You are asked before each call.',
  writes: file => `Both write ${file}. The page cannot add a command: only you can, in a terminal.`,
  notHere: 'This page cannot show the tools of this server.',
  state: { connecting: 'Connecting…', ready: 'Connected', failed: 'Failed' },
  tools: count => (count === 1 ? '1 tool' : `${count} tools`),
  slow: 'It has not answered yet. The agent works without its tools meanwhile.',
  retry: 'Try again',
  remove: 'Remove',
  removeOf: name => `Remove ${name}`,
  removeSure: name => `Remove ${name}?`,
  cancel: 'Cancel',
  inFile: file => `From ${file}. To remove it, edit that file and restart the server.`,
  filter: 'Filter tools',
  noMatch: 'No tool matches.',
  rule: { ask: 'Ask', always: 'Always', never: 'Never' },
  ruleOf: tool => `Calls of ${tool}`,
  ruleHint: {
    ask: 'You are asked before each call',
    always: 'Called without asking, as long as the tool stays as it is',
    never: 'The agent does not get it',
  },
  setAll: 'Set all to',
  readOnly: 'says it only reads',
  changed: {
    tool: 'It has changed since you always allowed it, so you are asked again.',
    server: 'Its server has changed since you always allowed it, so you are asked again.',
  },
  leftOut: 'Not given to the agent: more than 100 tools are on. Set some to Never.',
  node: 'These rules count on this node only.',
}

const chinese: ToolsStrings = {
  title: '工具',
  about: '除了制定计划和撰写文字，智能体还能做什么。',
  close: '关闭',
  count: tools => `${tools} 个工具`,
  countOf: (tools, all) => `${all} 个工具中的 ${tools} 个`,
  given: count => `智能体得到 ${count}：启用的工具超出了它能使用的数量。请将一些设为“从不”。`,
  none: '没有工具：该智能体能制定计划和撰写文字，但不能动手操作。',
  noneShort: '没有工具',
  failed: servers => `${servers} 个服务器失败`,
  connecting: '正在连接…',
  giveFolder: '给它一个文件夹',
  manage: '智能体的工具',
  noneTitle: '该智能体能制定计划和撰写文字，但不能动手操作',
  noneText: '它还没有工具。给它一个文件夹，它就能读取其中的文件；写入之前会先询问你。',
  addFolder: '给它一个文件夹',
  addMore: '添加更多工具',
  folder: '文件夹',
  runThis: '在终端中运行',
  appears: '之后它会自动出现在这里。',
  copy: '复制',
  copied: '已复制',
  otherServer: '其他 MCP 服务器',
  otherText: '支持 MCP 的程序，或网络上的服务器。每次调用之前都会询问你。',
  writes: file => `两者都写入 ${file}。本页面不能添加命令：只有你能在终端中添加。`,
  notHere: '本页面无法显示此服务器的工具。',
  state: { connecting: '正在连接…', ready: '已连接', failed: '失败' },
  tools: count => `${count} 个工具`,
  slow: '它尚未响应。在此期间，智能体不使用它的工具继续工作。',
  retry: '重试',
  remove: '移除',
  removeOf: name => `移除 ${name}`,
  removeSure: name => `移除 ${name}？`,
  cancel: '取消',
  inFile: file => `来自 ${file}。如需移除，请编辑该文件并重启服务器。`,
  filter: '筛选工具',
  noMatch: '没有匹配的工具。',
  rule: { ask: '询问', always: '始终', never: '从不' },
  ruleOf: tool => `${tool} 的调用`,
  ruleHint: {
    ask: '每次调用之前询问你',
    always: '只要工具不变，调用时不再询问',
    never: '智能体得不到它',
  },
  setAll: '全部设为',
  readOnly: '声称只读取',
  changed: {
    tool: '你曾始终允许它，但此后它有变化，所以会再次询问你。',
    server: '你曾始终允许它，但此后其服务器有变化，所以会再次询问你。',
  },
  leftOut: '未提供给智能体：启用的工具超过 100 个。请将一些设为“从不”。',
  node: '这些规则只在本节点有效。',
}

/** How many tools the agent has, and of how many if it cannot have all. */
export function toolCount({ offered, servers }: ToolsAnswer, strings: ToolsStrings) {
  const left = servers.flatMap(({ tools }) => tools).filter(({ left_out }) => left_out).length
  return { isAll: left === 0, text: left === 0 ? strings.count(offered) : strings.countOf(offered, offered + left) }
}

export const toolsStrings = (locale: string): ToolsStrings => (locale.startsWith('zh') ? chinese : english)
