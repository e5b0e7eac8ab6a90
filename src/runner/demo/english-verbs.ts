// A goal is often a verb phrase: "migrate our database". In a title it stands as "migrating our database".

/** Verbs that goals begin with, where the words after them do not tell. */
export const VERBS: ReadonlySet<string> = new Set(
  `add analyse analyze apply archive ask automate bake become book boost bring build buy call change check clean clear close
  collect compare configure convert cook cut debug decide declutter decorate deploy develop dig do draw earn eat exercise
  expand explore finish fix gain get give go grow hire hold improve increase install integrate invest join keep launch learn
  lose make manage master meditate meet migrate modernize monitor move open optimize order organise organize paint pay plant
  play practice practise prepare quit read rebuild record redecorate reduce refactor relocate remove renew renovate rent
  repair replace rewrite run save sell send set sew ship sleep sort speed split stop streamline study swim take teach test
  tidy track train travel understand update upgrade use validate verify visit wash win work`.split(/\s+/),
)
const DETERMINER = /^(?:a|an|the|my|our|your|this|that|these|those|some|all|more|better)$/i
const NO_VERB =
  /^(?:i|we|you|it|a|an|the|my|our|your|some|all|more|for|from|with|in|on|at|to|of|and|or|new|what|how|why|who|when|where|which)$/i
/** Ends with one vowel and one consonant, which is doubled. */
const SHORT = /^(?:[^aeiou]*|qu)[aeiou][bdgklmnprt]$|^(?:begin|submit|commit|admit|forget|debug)$/i

/** What a person says before the goal itself. */
const ASKING =
  /^(?:please\s+|let[’']s\s+|(?:can|could|would) you (?:please\s+)?|help (?:me|us)(?: to)?\s+|(?:i|we)(?:\s+(?:want|need|have|would like|plan|hope)|[’']d like) to\s+|(?:start|begin|try) to\s+)+(?=\p{L})/iu

/** "I want to run a marathon" is "Run a marathon". */
export const bareGoal = (goal: string): string => {
  const bare = goal.replace(ASKING, '')
  return bare === goal ? goal : bare.charAt(0).toUpperCase() + bare.slice(1)
}

/** "Migrate our database" as "migrating our database"; undefined if it does not begin with a verb. */
export function doing(goal: string): string | undefined {
  const [first = '', second = '', ...rest] = goal.replace(/[.!?]+$/, '').split(/\s+/)
  const verb = first.toLowerCase()
  const isVerb = /^[a-z]{2,}$/.test(verb) && !NO_VERB.test(verb) && (VERBS.has(verb) || DETERMINER.test(second))
  // A second verb would have to follow.
  const [, another = ''] = /\s(?:and|then)\s+(\p{L}+)/iu.exec(goal) ?? []
  return isVerb && !VERBS.has(another.toLowerCase()) ? [gerund(verb), second, ...rest].join(' ').trim() : undefined
}

export function gerund(verb: string): string {
  if (verb.endsWith('ie')) return `${verb.slice(0, -2)}ying`
  if (/[^eoy]e$/.test(verb)) return `${verb.slice(0, -1)}ing`
  return SHORT.test(verb) ? `${verb}${verb.at(-1)}ing` : `${verb}ing`
}
