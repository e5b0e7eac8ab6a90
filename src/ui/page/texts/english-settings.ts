export const englishSettings = {
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
}

export type SettingsStrings = typeof englishSettings
