import { usePageStrings } from './strings.ts'

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
const it = (count: number): string => (count === 1 ? 'it' : 'them')

/** The texts of the parts that load after the first render. */
const englishLater = {
  calls: {
    reviews: 'Reviews',
    settings: 'Settings',
    waiting: (count: string) =>
      count === '1' ? '1 plan waits for your review' : `${count} plans wait for your review`,
    /** Used if tool calls or disputes wait as well. */
    decisions: (count: string) => (count === '1' ? '1 decision waits for you' : `${count} decisions wait for you`),
    offer: 'Get a notification when the agent waits for you?',
    notifyMe: 'Notify me',
    notNow: 'Not now',
    denied: 'Your browser blocks notifications from this page. Settings say how to allow them.',
    planWaits: 'A plan waits for your review',
    planFrom: (conversation: string, steps: number) => `${conversation} · ${plural(steps, 'step')}`,
    /** A tool call's notification and row. */
    wantsTool: (tool: string, server: string | undefined) =>
      `The agent wants to use ${tool}${server === undefined ? '' : ` of ${server}`}`,
    /** A dispute's notification and row. */
    disputes: (task: string) => `The agent disputes: ${task}`,
    plansWait: (count: number) => `${count} plans wait for your review`,
    openAll: 'Open to see them all.',
    title: 'Waiting for your review',
    steps: (count: number) => plural(count, 'step'),
    moreSteps: (count: number) => `+${count} more`,
    byModel: (model: string) => `Runsheet with ${model}`,
    sinceNow: 'asked just now',
    since: (ago: string) => `asked ${ago}`,
    deadline: (left: string) => `${left} left`,
    more: 'More are waiting. They show up here as you decide these.',
    none: 'Nothing waits for you',
    noneHint:
      'When an agent proposes a plan, in this page or over MCP, asks to use a tool or disputes a task, you find it here.',
    setUpNotifications: 'Notifications',
  },

  settings: {
    title: 'Settings',
    pages: { model: 'Model', reviews: 'Plans', notifications: 'Notifications', display: 'Appearance' },
    unsaved: 'Your changes are not saved yet.',
    discard: 'Discard',
    keepEditing: 'Keep editing',
    conflict:
      'Nothing was saved: another window changed the settings first. What you see now includes its change. Check it and save again.',
    ofNode: 'Several servers share this database. These settings are for this one only.',
    lockedByOption: (name: string) => `Set by the option ${name}. To change it here, start the server without it.`,
    /** Base URL or key, when only the other one is fixed. */
    lockedAlong: (name: string) =>
      `Base URL and key go together, and ${name} sets the other one. To change it here, start the server without it.`,
    lockedByVariable: (name: string) => `Set by the variable ${name}. To change it here, start the server without it.`,
    savedBelow: (value: string) => `Saved here: ${value}. It counts once the server is started without that.`,
    fromFile: 'From runsheet.json.',
    reset: 'Use the default',
    on: 'on',
    off: 'off',

    modelIntro: 'The model that plans and does the work. A change counts for messages sent after it.',
    provider: 'Provider',
    providers: {
      demo: ['Demo', 'Built in, to try out'],
      openai: ['OpenAI', 'GPT models'],
      anthropic: ['Anthropic', 'Claude models'],
      google: ['Google', 'Gemini models'],
      'openai-compatible': ['Local or other', 'Ollama, LM Studio, vLLM, OpenRouter: any OpenAI-compatible API'],
    } satisfies Record<string, readonly [name: string, about: string]>,
    modelName: 'Model name',
    modelHint: (example: string) => `As the provider spells it, for example ${example}.`,
    baseUrl: 'Base URL',
    baseUrlHint: 'Where the API is; it often ends in /v1. 127.0.0.1 is the machine that Runsheet runs on.',
    otherUrl: 'Use another address',
    otherUrlHint: 'For a proxy or gateway with the same API. Leave it empty for the provider’s own.',
    servers: 'Common addresses',
    key: 'API key',
    keySaved: (ending: string | undefined) =>
      ending === undefined ? 'A key is saved.' : `A key is saved. It ends in ${ending}.`,
    keyOfVariable: (variable: string) =>
      `The server has a key in ${variable}. A key that you enter here is used instead.`,
    keyOptional: 'API key (if it needs one)',
    keyHint: (receiver: string) =>
      `Kept in a file on the server that only you can read, never shown again, and sent only to ${receiver}.`,
    getKey: (provider: string) => `Get a key from ${provider}`,
    orVariable: (variable: string) => `Or set ${variable} where the server starts.`,
    replaceKey: 'Replace',
    removeKey: 'Remove',
    keyRemoved: 'The key was removed.',
    erasesKey: (receiver: string) =>
      `Saving erases the saved key: it was entered for ${receiver} and is sent nowhere else.`,
    judge: 'Judge',
    judgeHint: 'Judges whether each step is really done.',
    sameJudge: 'The same model',
    otherJudge: 'Another model',
    judgeKeyHint: (variable: string) => `A judge of another provider takes its key from ${variable} of the server.`,
    save: 'Save',
    saveAndTry: 'Save and try',
    tryIt: 'Try it',
    tryJudge: 'Try the judge',
    saving: 'Saving…',
    trying: 'Asking the model…',
    saved: (model: string) => `Saved. New messages go to ${model}.`,
    answered: (model: string, duration: string) => `${model} answered in ${duration}.`,
    tried: (url: string) => `Tried: ${url}`,
    /** By failure code: what happened, and how to fix it. */
    failures: {
      denied: ['The provider refused the key', 'Check that the key is complete and valid, then save and try again.'],
      unreachable: ['The model cannot be reached', 'Check that it is running, and that the base URL is right.'],
      refused: [
        'The provider refused the request',
        'Check the model name, and that the base URL ends as the provider says.',
      ],
      busy: ['The provider could not answer now', 'Wait a moment, then try again.'],
      unknown: ['The model does not work yet', 'Check model name, base URL and key.'],
    } satisfies Record<string, readonly [title: string, hint: string]>,
    judgeNeedsKey: (variable: string) =>
      `The judge needs a key: set ${variable} where the server starts, or use the same model.`,
    problems: {
      key: 'This model needs a key. Enter one below.',
      base_url: 'This model needs a base URL. Enter one below.',
      model: 'This model is not known. Check its name.',
      assessor_model: 'The judge is not known. Check its name.',
    },

    toolsetHint: (by?: string) =>
      by ? `Set by ${by} of the server.` : 'Start the server with --toolset to use another one.',
    review: 'Review plans before work starts',
    reviewHint: 'You approve, edit or reject each plan. Also for agents that work over MCP.',
    noReview: 'Off: agents start without asking you.',
    deadline: 'Deadline of a review',
    deadlineHint: 'When the time is up, nothing is started; you can still reopen the plan.',
    noDeadline: 'No deadline',
    gate: 'Keep agents at open steps',
    gateHint: 'An agent that stops with open steps is asked to go on, until there is no more progress.',
    newOnly: 'For conversations that begin after the change.',

    notify: 'Notify me when the agent waits for me',
    notifyStates: {
      unsupported: 'This browser has no notifications for this page. They need https, or 127.0.0.1.',
      denied: 'Your browser blocks notifications from this page.',
      ask: 'Your browser will ask for your permission.',
      on: 'A notification appears when you are not looking at this page.',
      off: 'Off.',
    },
    allowSteps:
      'Click the icon left of the address, allow notifications for this site, and reload the page. If none appear, check the notification settings of your system.',
    sound: 'Play a sound',
    soundHint: 'Two soft notes, when you are not looking at this page.',
    playSound: 'Listen',
    alwaysShown: 'How many plans wait is always in the title of the window and beside “Reviews”.',

    language: 'Language',
    theme: 'Theme',
    themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
    planBeside: 'Plan beside the conversation',
    planBesideHint: 'On wide screens, instead of above the message box.',
    inBrowser: 'Kept in this browser.',
  },

  toolsets: {
    heading: 'How the agent plans',
    /** Button name and description, independent of the policy. */
    of: {
      runsheet: ['Reviewed plan', 'A plan, with what came of each step.'],
      task_manager: ['Task manager', 'Tasks with details, priorities and tags.'],
      manage_todos: ['To-do list', 'A short list for one request.'],
      turn_todos: ['Steps with outcomes', 'Steps for one request, each closed with what came of it.'],
      checklist: ['Checklist', 'Items to tick off, kept over the whole conversation.'],
      task_list: [
        'Task list',
        'Tasks that are added one by one, kept over the whole conversation. With --store file each list is a JSON file, .agents/tasks/<id>.json in the data folder; other stores write none.',
      ],
    } satisfies Record<string, readonly [name: string, about: string]>,
    /** Names `runsheet` without review. */
    unreviewed: 'Plan',
    approve: 'You approve the plan before anything runs.',
    deadline: (span: string) => `You have ${span} to decide; then nothing is started.`,
    startsAtOnce: 'The agent starts at once.',
    judged: 'A judge checks each result.',
    goesOn: 'The agent goes on until every step is settled.',
    /** Separates two sentences; empty in Chinese. */
    space: ' ',
    review: 'Review',
    assessor: 'Judge',
    gate: 'Goes on',
    noReview: 'No review',
    /** Appended to `noReview` if there is room. */
    noReviewWhy: ': the agent starts without asking you',
  },

  conversation: {
    queue: {
      title: 'Queue',
      waits: (count: number) => `Queued: the agent reads ${it(count)} before its next step`,
      waitsForReview: (count: number) => `Queued: the agent reads ${it(count)} after your decision`,
      held: (count: number) => `Not read: the turn ended first. Send ${it(count)} to go on.`,
      sendingNow: 'Stopping the agent to send what waits…',
      sending: 'Sending…',
      sendNow: 'Send now',
      sendNowHint: 'Stops what the agent does now, then starts with these messages',
      edit: 'Edit',
      /** Accessible name of the edit field. */
      editQueued: 'Edit the queued message',
      takeBack: 'Take back',
      save: 'Save',
      cancel: 'Cancel',
      readMeanwhile: 'The agent has read this message meanwhile.',
      sendAsNew: 'Send as a new message',
      discard: 'Discard the edit',
      elsewhere: (agent: string) =>
        `${agent} works here and cannot be written to. What you send goes to Runsheet’s own agent, and ${agent} waits until that is done. To steer it, change its plan.`,
      otherAgent: 'Another agent',
    },
    edit: 'Edit message',
    editMessage: 'Edit the message',
    /** The result of an edited message: a new turn, or another message to the running one. */
    editStarts: 'Sent as a new message. What was said and done before stays as it is.',
    editQueues: 'The agent gets it as a new message. What was said and done before stays as it is.',
    askAgain: 'Ask again',
    toLatest: 'Jump to latest',
    newBelow: 'New messages',
    code: 'code',
    copyCode: 'Copy code',
    tokens: (tokens: string) => `${tokens} tokens`,
    tokensInOut: (input: string, output: string) => `${input} in, ${output} out, as the provider counts`,
    otherAgentWorks:
      'Another agent is working in this conversation. You can follow and change its plan, or ask for something here.',
    otherAgentIdle:
      'Another agent uses this conversation. It sees your changes with its next call. You can also ask for something here.',
    demo: 'Demo model: it plans and writes, but acts only in a sandbox.',
    demoWithoutSandbox: 'Demo model: it plans and writes, but cannot act.',
    connectModel: 'Connect a real one',
    dismiss: 'Hide for now',
    openSettings: 'Open settings',
    toolServerDown: (server: string) => `The tool server “${server}” did not answer`,
    toolServerHint: 'Check that it runs. It is tried again with the next step; until then the agent works without it.',
    /** Keyed by the kind of error: title, and how to fix it. */
    problems: {
      unreachable: [
        'The server cannot be reached',
        'Check that Runsheet is running there, then retry. Nothing you wrote is lost.',
      ],
      storage: [
        'The server could not save this',
        'Look at its disk and data folder, then retry. Nothing you wrote is lost.',
      ],
      busy: ['Too much at once', 'Wait a moment, then retry.'],
      model: ['There is no model to ask', 'Choose one in the settings, or set RUNSHEET_MODEL, then retry.'],
      other: ['That did not work', ''],
    } satisfies Record<string, readonly [title: string, hint: string]>,
    triedAt: (url: string) => `Tried: ${url}`,
  },

  filing: {
    rename: 'Rename',
    newTitle: 'New title',
    pin: 'Pin',
    unpin: 'Unpin',
    archive: 'Archive',
    exportMarkdown: 'Export as Markdown',
    exportJson: 'Export as JSON lines',
    archivedNow: (title: string) => `Archived “${title}”`,
    undo: 'Undo',
    notRenamed: (title: string) => `Not renamed to “${title}”.`,
    noneArchived: 'Nothing is archived.',
    backToList: 'Back to all conversations',
    searching: 'Searching…',
    noResults: (query: string) => `No results for “${query}”`,
    noResultsHint: 'Every word has to occur, the last one at least by its beginning.',
    indexing: 'Older texts are still being indexed: there may be more.',
    kinds: { conversation: 'Conversations', task: 'Tasks', message: 'Messages' },
  },

  command: {
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
  },

  tools: {
    title: 'Tools',
    about: 'What the agent can do besides planning and writing.',
    close: 'Close',
    count: (tools: number) => (tools === 1 ? '1 tool' : `${tools} tools`),
    /** Used if more tools are on than an agent can take. */
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
    otherServer: 'Another MCP server',
    otherText: 'A program that speaks MCP, or a server on the web. You are asked before each call.',
    writes: (file: string) => `Both write ${file}. The page cannot add a command: only you can, in a terminal.`,
    state: { connecting: 'Connecting…', ready: 'Connected', failed: 'Failed' },
    tools: (count: number) => (count === 1 ? '1 tool' : `${count} tools`),
    slow: 'It has not answered yet. The agent works without its tools meanwhile.',
    retry: 'Try again',
    remove: 'Remove',
    /** The button's accessible name, since several servers have one. */
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
  },
}

export type LaterStrings = typeof englishLater

/** The texts of the parts that load after the first render, in the language of the page. */
export const useLaterStrings = (): LaterStrings => usePageStrings().later ?? englishLater
