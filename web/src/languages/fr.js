/** The widget's words in French. Load it before the widget. */

import { add } from './add.js';

add('fr', {
  ask: 'Demander', title: 'Interroger ce site', placeholder: 'Posez une question', close: 'Fermer', clear: 'Effacer la question',
  suggested: 'Vous pouvez demander', earlier: 'Questions précédentes', forget: 'Oublier ces questions',
  begin: 'Posez votre question avec vos mots. La réponse est ce que dit ce site, avec un lien vers l’endroit.',
  titles: 'Pages et sections', passages: 'Passages', 'count.one': '{n} passage', 'count.other': '{n} passages',
  none: 'Rien sur ce site ne répond à cette question.', noneMore: 'Essayez d’autres mots ou une question plus longue.',
  searching: 'Recherche…', slow: 'La recherche continue. Elle prend plus de temps que d’habitude.',
  offline: 'Vous êtes hors ligne.', unreachable: 'La recherche est injoignable.', limited: 'Trop de questions à la fois.',
  busy: 'La recherche n’est pas disponible pour le moment.', timeout: 'La recherche a pris trop de temps.',
  broken: 'La réponse de la recherche est illisible.', refused: 'La recherche n’a pas accepté cette question.',
  setup: 'La recherche n’est pas bien configurée.', long: 'Cette question est trop longue : {n} caractères sur {max}.',
  kept: 'Votre question est toujours là.', wait: 'Vous pouvez réessayer dans {n} s.', retry: 'Réessayer',
  whole: 'Passage entier', less: 'Réduire', copy: 'Copier', copyCode: 'Copier le code', copied: 'Copié', helpful: 'Utile', unhelpful: 'Pas utile',
  strong: 'Très bon résultat', good: 'Bon résultat', weak: 'Lien lointain', unclear: 'Pas de réponse claire. Les passages les plus proches :',
  choose: 'choisir', open: 'ouvrir', source: 'Passages de ce site, mot pour mot',
});
