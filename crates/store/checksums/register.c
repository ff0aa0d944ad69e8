/*
** Makes SQLite's checksum VFS known to the bundled SQLite, under its own name and not as the default: only
** connections that ask for it go through it, so a program that embeds abide keeps its own databases as they are.
**
** Runs before main, because nothing here is called from Rust: the crate has no unsafe code.
*/
#define SQLITE_CKSUMVFS_STATIC 1
#include "cksumvfs.c"

/* Where a page should be there is nothing: the file was cut short. SQLite would take it for a page of zeros. */
static int abideRead(sqlite3_file *pFile, void *zBuf, int iAmt, sqlite3_int64 iOfst){
  int rc = cksmRead(pFile, zBuf, iAmt, iOfst);
  int isPage = iAmt>=512 && (iAmt & (iAmt-1))==0 && iOfst>0;
  if( rc==SQLITE_IOERR_SHORT_READ && isPage && ((CksmFile*)pFile)->verifyCksm ) rc = SQLITE_IOERR_DATA;
  return rc;
}

static sqlite3_io_methods abide_io_methods;

static int abideOpen(sqlite3_vfs *pVfs, const char *zName, sqlite3_file *pFile, int flags, int *pOutFlags){
  int rc = cksmOpen(pVfs, zName, pFile, flags, pOutFlags);
  if( rc==SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB)!=0 ) pFile->pMethods = &abide_io_methods;
  return rc;
}

/* A new file of a connection that goes through it has room for a checksum on each page; VACUUM makes room in one that
** has none. */
static int abideReserve(sqlite3 *db, char **pzErrMsg, const sqlite3_api_routines *pApi){
  sqlite3_vfs *pVfs = 0;
  int n = 8;
  (void)pzErrMsg;
  (void)pApi;
  if( sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &pVfs)==SQLITE_OK && pVfs==&cksm_vfs ){
    sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &n);
  }
  return SQLITE_OK;
}

__attribute__((constructor))
static void abideRegisterChecksums(void){
  sqlite3_vfs *pOrig;
  if( sqlite3_initialize()!=SQLITE_OK ) return;
  pOrig = sqlite3_vfs_find(0);
  if( pOrig==0 || sqlite3_vfs_find("cksmvfs")!=0 ) return;
  abide_io_methods = cksm_io_methods;
  abide_io_methods.xRead = abideRead;
  cksm_vfs.xOpen = abideOpen;
  cksm_vfs.iVersion = pOrig->iVersion;
  cksm_vfs.pAppData = pOrig;
  cksm_vfs.szOsFile = pOrig->szOsFile + (int)sizeof(CksmFile);
  if( sqlite3_vfs_register(&cksm_vfs, 0)==SQLITE_OK ){
    sqlite3_auto_extension((void(*)(void))abideReserve);
  }
}
