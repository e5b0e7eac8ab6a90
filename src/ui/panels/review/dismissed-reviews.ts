const KEY = 'runsheet.dismissed-reviews'
const MAX_KEPT = 50

/** Stored in the browser, so that a dismissed outcome stays dismissed after a reload. */
export const isDismissed = (reviewId: string): boolean => dismissedReviews().includes(reviewId)

export function dismissReview(reviewId: string): void {
  try {
    localStorage.setItem(KEY, [reviewId, ...dismissedReviews()].slice(0, MAX_KEPT).join(' '))
  } catch {
    // Storage is blocked: the outcome shows again after a reload.
  }
}

function dismissedReviews(): readonly string[] {
  try {
    return localStorage.getItem(KEY)?.split(' ') ?? []
  } catch {
    return []
  }
}
