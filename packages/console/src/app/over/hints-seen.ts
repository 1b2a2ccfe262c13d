// Whether this browser has seen the hints for a first visit.

const place = 'dlq-console.hints'

export function hintsSeen(): boolean {
  try {
    return localStorage.getItem(place) !== null
  } catch {
    // Without storage they would come back on every page.
    return true
  }
}

export function noteHintsSeen(): void {
  try {
    localStorage.setItem(place, 'seen')
  } catch {
    // They are gone as long as the page is open.
  }
}
