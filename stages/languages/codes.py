"""Names of languages: `en`, `eng` and `eng_Latn` are one language, whichever model or source says so.

Labels are ISO 639-1 (`en`), ISO 639-3 (`eng`), or these with the script by ISO 15924 after `_` or `-` (`eng_Latn`),
as GlotLID and OpenLID write them.
"""

from functools import lru_cache

_PAIRS = """
    aa=aar ab=abk ae=ave af=afr ak=aka am=amh an=arg ar=ara as=asm av=ava ay=aym az=aze ba=bak be=bel bg=bul
    bi=bis bm=bam bn=ben bo=bod br=bre bs=bos ca=cat ce=che ch=cha co=cos cr=cre cs=ces cu=chu cv=chv cy=cym
    da=dan de=deu dv=div dz=dzo ee=ewe el=ell en=eng eo=epo es=spa et=est eu=eus fa=fas ff=ful fi=fin fj=fij
    fo=fao fr=fra fy=fry ga=gle gd=gla gl=glg gn=grn gu=guj gv=glv ha=hau he=heb hi=hin ho=hmo hr=hrv ht=hat
    hu=hun hy=hye hz=her ia=ina id=ind ie=ile ig=ibo ii=iii ik=ipk io=ido is=isl it=ita iu=iku ja=jpn jv=jav
    ka=kat kg=kon ki=kik kj=kua kk=kaz kl=kal km=khm kn=kan ko=kor kr=kau ks=kas ku=kur kv=kom kw=cor ky=kir
    la=lat lb=ltz lg=lug li=lim ln=lin lo=lao lt=lit lu=lub lv=lav mg=mlg mh=mah mi=mri mk=mkd ml=mal mn=mon
    mr=mar ms=msa mt=mlt my=mya na=nau nb=nob nd=nde ne=nep ng=ndo nl=nld nn=nno no=nor nr=nbl nv=nav ny=nya
    oc=oci oj=oji om=orm or=ori os=oss pa=pan pi=pli pl=pol ps=pus pt=por qu=que rm=roh rn=run ro=ron ru=rus
    rw=kin sa=san sc=srd sd=snd se=sme sg=sag si=sin sk=slk sl=slv sm=smo sn=sna so=som sq=sqi sr=srp ss=ssw
    st=sot su=sun sv=swe sw=swa ta=tam te=tel tg=tgk th=tha ti=tir tk=tuk tl=tgl tn=tsn to=ton tr=tur ts=tso
    tt=tat tw=twi ty=tah ug=uig uk=ukr ur=urd uz=uzb ve=ven vi=vie vo=vol wa=wln wo=wol xh=xho yi=yid yo=yor
    za=zha zh=zho zu=zul
"""  # ISO 639-1 = ISO 639-3

# Of a macrolanguage that has a code of two letters, the one that models answer for it, and the older three letters.
_MEMBERS = """
    ar=arb az=azj et=ekk fa=pes fa=prs gn=gug ku=kmr lv=lvs mg=plt mn=khk ms=zsm ne=npi no=nob om=gaz or=ory
    ps=pbt qu=quy sq=als sw=swh uz=uzn yi=ydd zh=cmn zh=chi fr=fre de=ger nl=dut cs=cze el=gre ro=rum
"""

_TWO_LETTERS = {three: two for two, _, three in (pair.partition("=") for pair in (*_PAIRS.split(), *_MEMBERS.split()))}


@lru_cache(maxsize=4096)
def short_code(label: str) -> str:
    """The code of a label's language: two letters where ISO 639-1 has it, else what stands before the script."""
    language = label.replace("-", "_").partition("_")[0].lower()
    return _TWO_LETTERS.get(language, language)


def script(label: str) -> str | None:
    """The script that a label names (`Latn`), or None."""
    found = label.replace("-", "_").partition("_")[2]
    return found or None


def same_language(one: str, other: str) -> bool:
    """Whether two labels name one language; where both name a script, in that script."""
    scripts = {script(one), script(other)} - {None}
    return short_code(one) == short_code(other) and len(scripts) <= 1
