/** The widget's words in German. Load it before the widget. */

import { add } from './add.js';

add('de', {
  ask: 'Fragen', title: 'Diese Seite befragen', placeholder: 'Stellen Sie eine Frage', close: 'Schließen', clear: 'Frage löschen',
  suggested: 'Mögliche Fragen', earlier: 'Vorher gefragt', forget: 'Diese Fragen vergessen',
  begin: 'Fragen Sie in eigenen Worten. Die Antwort ist, was diese Seite sagt, mit einem Link zur Stelle.',
  titles: 'Seiten und Abschnitte', passages: 'Textstellen', 'count.one': '{n} Textstelle', 'count.other': '{n} Textstellen',
  none: 'Auf dieser Seite passt nichts zu dieser Frage.', noneMore: 'Versuchen Sie andere Worte oder eine längere Frage.',
  searching: 'Suche läuft…', slow: 'Die Suche läuft noch. Es dauert länger als sonst.',
  offline: 'Sie sind offline.', unreachable: 'Die Suche ist nicht erreichbar.', limited: 'Zu viele Fragen auf einmal.',
  busy: 'Die Suche ist gerade nicht verfügbar.', timeout: 'Die Suche hat zu lange gedauert.',
  broken: 'Die Antwort der Suche ist nicht lesbar.', refused: 'Die Suche hat diese Frage nicht angenommen.',
  setup: 'Die Suche ist nicht richtig eingerichtet.', long: 'Diese Frage ist zu lang: {n} von {max} Zeichen.',
  kept: 'Ihre Frage ist noch da.', wait: 'Neuer Versuch in {n} s möglich.', retry: 'Erneut versuchen',
  whole: 'Ganze Textstelle', less: 'Weniger', copy: 'Kopieren', copyCode: 'Code kopieren', copied: 'Kopiert', helpful: 'Hilfreich', unhelpful: 'Nicht hilfreich',
  strong: 'Sehr guter Treffer', good: 'Guter Treffer', weak: 'Entfernt verwandt', unclear: 'Keine klare Antwort. Die nächsten Textstellen:',
  choose: 'wählen', open: 'öffnen', source: 'Textstellen dieser Seite, Wort für Wort',
});
