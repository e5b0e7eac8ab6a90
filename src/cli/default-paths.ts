import { homedir } from 'node:os'

/** The data folder, in the working folder. */
export const DEFAULT_DATA = '.runsheet'

/** The settings file, in the working folder. */
export const DEFAULT_CONFIG = 'runsheet.json'

/** What the page's settings are kept in, in the data folder, with the key. */
export const SETTINGS_FILE = 'settings.json'

/** MCP hosts start us without a shell that would expand it. */
export const expandHome = (path: string): string => path.replace(/^~(?=\/|$)/, homedir())
