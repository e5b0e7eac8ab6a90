export const englishCommands = {
  palette: 'Commands and search',
  placeholder: 'Type a command, or search conversations, messages and tasks…',
  actions: 'Actions',
  recent: 'Recent conversations',
  results: 'Search results',
  nothing: 'Nothing found',
  kinds: { conversation: 'Conversation', task: 'Task', message: 'Message' },
  count: (results: number) => (results === 1 ? '1 result' : `${results} results`),
  labels: {
    new_chat: 'New chat',
    search: 'Search in the list',
    reviews: 'Reviews waiting for you',
    history: 'History of this conversation',
    plan_beside: 'Plan beside the conversation',
    rename: 'Rename conversation',
    pin: 'Pin conversation',
    unpin: 'Unpin conversation',
    archive: 'Archive conversation',
    restore: 'Restore conversation',
    export_markdown: 'Export as Markdown',
    export_json: 'Export as JSON lines',
    archived: 'Archived conversations',
    settings: 'Settings',
    tools: 'Tools of the agent',
    theme: 'Switch between light and dark',
    language: 'Switch to Chinese (中文)',
    keyboard_help: 'Keyboard shortcuts',
  },
  help: 'Keyboard shortcuts',
  /** Grouped by where they work. "Mod" is Command on a Mac, Ctrl elsewhere. */
  shortcuts: [
    {
      where: 'Everywhere',
      keys: [
        ['Commands and search', 'Mod+K'],
        ['Keyboard shortcuts', '?'],
        ['Close what is open', 'Esc'],
      ],
    },
    {
      where: 'Message box',
      keys: [
        ['Send, or request changes while a review waits', 'Enter'],
        ['New line', 'Shift+Enter'],
      ],
    },
    {
      where: 'Review',
      keys: [
        ['Next step, or a new one after the last', 'Enter'],
        ['Remove an empty step', 'Backspace'],
        ['Move the step', 'Alt+↑', 'Alt+↓'],
        ['Leave a field; again: reject the plan', 'Esc'],
        ['Undo', 'Mod+Z'],
        ['Redo', 'Mod+Shift+Z', 'Mod+Y'],
      ],
    },
    {
      where: 'Plan',
      keys: [
        ['Move the step', 'Alt+↑', 'Alt+↓'],
        ['Save a new title', 'Enter'],
        ['Leave the title as it was', 'Esc'],
        ['Undo', 'Mod+Z'],
        ['Redo', 'Mod+Shift+Z', 'Mod+Y'],
      ],
    },
    {
      where: 'Menus and lists',
      keys: [
        ['Next, previous', '↓', '↑'],
        ['First, last (menus)', 'Home', 'End'],
        ['Choose', 'Enter'],
      ],
    },
  ],
}

export type CommandStrings = typeof englishCommands
