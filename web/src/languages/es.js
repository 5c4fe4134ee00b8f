/** The widget's words in Spanish. Load it before the widget. */

import { add } from './add.js';

add('es', {
  ask: 'Preguntar', title: 'Preguntar a este sitio', placeholder: 'Haga una pregunta', close: 'Cerrar', clear: 'Borrar la pregunta',
  suggested: 'Puede preguntar', earlier: 'Preguntas anteriores', forget: 'Olvidar estas preguntas',
  begin: 'Pregunte con sus palabras. La respuesta es lo que dice este sitio, con un enlace al lugar.',
  titles: 'Páginas y secciones', passages: 'Pasajes', 'count.one': '{n} pasaje', 'count.other': '{n} pasajes',
  none: 'Nada en este sitio responde a esta pregunta.', noneMore: 'Pruebe otras palabras o una pregunta más larga.',
  searching: 'Buscando…', slow: 'Seguimos buscando. Tarda más de lo normal.',
  offline: 'No tiene conexión.', unreachable: 'No se puede acceder a la búsqueda.', limited: 'Demasiadas preguntas a la vez.',
  busy: 'La búsqueda no está disponible en este momento.', timeout: 'La búsqueda tardó demasiado.',
  broken: 'La respuesta de la búsqueda no se puede leer.', refused: 'La búsqueda no aceptó esta pregunta.',
  setup: 'La búsqueda no está bien configurada.', long: 'La pregunta es demasiado larga: {n} de {max} caracteres.',
  kept: 'Su pregunta sigue aquí.', wait: 'Puede intentarlo de nuevo en {n} s.', retry: 'Intentar de nuevo',
  whole: 'Pasaje completo', less: 'Menos', copy: 'Copiar', copyCode: 'Copiar código', copied: 'Copiado', helpful: 'Útil', unhelpful: 'No es útil',
  strong: 'Muy buen resultado', good: 'Buen resultado', weak: 'Poco relacionado', unclear: 'No hay una respuesta clara. Los pasajes más cercanos:',
  choose: 'elegir', open: 'abrir', source: 'Pasajes de este sitio, palabra por palabra',
});
