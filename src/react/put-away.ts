const KEY = 'runsheet.put-away'
const MOST = 50

/** What was read and closed stays closed after a reload. */
export const isPutAway = (id: string): boolean => putAwayBefore().includes(id)

export function putAway(id: string): void {
  try {
    localStorage.setItem(KEY, [id, ...putAwayBefore()].slice(0, MOST).join(' '))
  } catch {
    // Storage that is closed to us: it is told once more after a reload.
  }
}

function putAwayBefore(): readonly string[] {
  try {
    return localStorage.getItem(KEY)?.split(' ') ?? []
  } catch {
    return []
  }
}
