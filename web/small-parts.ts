// Small parts of the page that are not in its first load, in one file: each alone would take a request.
export { CallOffer } from './call-offer.tsx'
export { Calls } from './calls.tsx'
export { ReviewsPage } from './reviews-page.tsx'
export { SignIn } from './sign-in.tsx'
export { ToolsetChoice } from './toolset-choice.tsx'
