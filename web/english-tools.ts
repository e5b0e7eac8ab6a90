/** The texts of the tools, loaded with them. */
export const englishTools = {
  title: 'Tools',
  about: 'What the agent can do besides planning and writing.',
  close: 'Close',
  /** What is below the message box. */
  count: (tools: number) => (tools === 1 ? '1 tool' : `${tools} tools`),
  /** Where there are more than an agent can have. */
  countOf: (tools: number, all: number) => `${tools} of ${all} tools`,
  given: (count: string) => `The agent gets ${count}: more than it can take are on. Set some to Never.`,
  none: 'No tools: this agent can plan and write, but not act.',
  failed: (servers: number) => (servers === 1 ? '1 server failed' : `${servers} servers failed`),
  connecting: 'connecting…',
  giveFolder: 'Give it a folder',
  manage: 'Tools of the agent',
  noneTitle: 'This agent can plan and write, but not act',
  noneText:
    'It has no tools yet. Give it a folder, and it can read the files in it; before it writes one, it asks you.',
  addMore: 'Add more tools',
  folder: 'Folder',
  runThis: 'Run this in a terminal',
  appears: 'It then appears here by itself.',
  copy: 'Copy',
  copied: 'Copied',
  otherServer: 'Another MCP server',
  otherText: 'A program that speaks MCP, or a server on the web. You are asked before each call.',
  writes: (file: string) => `Both write ${file}. The page cannot add a command: only you can, in a terminal.`,
  state: { connecting: 'Connecting…', ready: 'Connected', failed: 'Failed' },
  tools: (count: number) => (count === 1 ? '1 tool' : `${count} tools`),
  slow: 'It has not answered yet. The agent works without its tools meanwhile.',
  retry: 'Try again',
  remove: 'Remove',
  /** What the button is called where several are heard one after the other. */
  removeOf: (name: string) => `Remove ${name}`,
  removeSure: (name: string) => `Remove ${name}?`,
  cancel: 'Cancel',
  inFile: (file: string) => `From ${file}. To remove it, edit that file and restart the server.`,
  filter: 'Filter tools',
  noMatch: 'No tool matches.',
  rule: { ask: 'Ask', always: 'Always', never: 'Never' },
  ruleOf: (tool: string) => `Calls of ${tool}`,
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

export type ToolsStrings = typeof englishTools
