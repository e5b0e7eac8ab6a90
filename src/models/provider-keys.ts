export const PROVIDER_KEYS: Readonly<Record<string, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
}

/** Keys that are set, whichever provider is used. */
export const providerKeys = (environment: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.values(PROVIDER_KEYS).flatMap(variable => environment[variable] ?? [])

/** Provider URLs that are set. Their SDKs read these variables themselves. */
export const providerUrls = (environment: Readonly<Record<string, string | undefined>>): readonly string[] =>
  ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL'].flatMap(variable => environment[variable] ?? [])
